public import LocalDataAPI

/// What became of the values of a snapshot: see ``StorageRouter/apply(snapshot:)``.
public struct SnapshotReport: Sendable {
    /// The addresses of the values that were stored, ascending.
    public internal(set) var stored: [String] = []
    /// The addresses of the values that are as here, older than what is here, or expired, ascending: nothing has
    /// changed.
    public internal(set) var unchanged: [String] = []
    /// The addresses of the values that this program cannot read, ascending. They are kept, and stored once a program
    /// that reads them registers its catalog, or applies or makes a snapshot.
    public internal(set) var kept: [String] = []
    /// Why other values were not stored, by their names in the snapshot.
    public internal(set) var failures: [String: StorageError] = [:]

    init() {}

    mutating func add(_ outcome: SnapshotOutcome, _ address: String) {
        switch outcome {
        case .stored: stored.append(address)
        case .unchanged: unchanged.append(address)
        case .kept: kept.append(address)
        }
    }
}

/// What became of one value.
enum SnapshotOutcome: Sendable {
    case stored
    case unchanged
    case kept
}
