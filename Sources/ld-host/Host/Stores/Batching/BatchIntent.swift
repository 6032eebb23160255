internal import FoundationEssentials
package import HostGround
internal import HostPlugins
package import LocalDataAPI

/// The journal's entry of a batch: in which stores it changes how many values, and whether it is decided.
package struct BatchIntent: Codable {
    package static let kind = "batch"

    struct Store: Codable {
        let name: String
        /// See ``OpenStore/identity``.
        let identity: UInt64
        /// See ``AtomicScope/directory``.
        let folder: String?
        /// The number of changes; until the batch is decided, the most that there can be.
        let count: Int
    }

    /// The most staged changes of a store.
    private static let mostStaged = 1 << 40

    /// Whether the batch takes effect. Until then nothing has changed, and the staged values are removed.
    var isDecided: Bool
    let stores: [Store]

    init(_ staged: [(scope: AtomicScope, count: Int)], isDecided: Bool) {
        self.isDecided = isDecided
        stores = staged.map { scope, count in
            Store(name: scope.open.name, identity: scope.open.identity, folder: scope.directory, count: count)
        }
    }

    /// - Throws: `corrupt` if the payload is not such an entry.
    init(_ payload: Data, of id: IntentID) throws(StorageError) {
        guard let entry = try? JSONDecoder().decode(Self.self, from: payload),
            entry.stores.allSatisfy({ (0...Self.mostStaged).contains($0.count) })
        else { throw StorageError(.corrupt, "the journal's entry \(id) of a batch is corrupt") }
        self = entry
    }

    func encoded() throws(StorageError) -> Data {
        do { return try JSONEncoder().encode(self) } catch {
            throw StorageError(.serializationFailed, "the journal's entry of a batch cannot be written: \(error)")
        }
    }

    /// A description for people.
    ///
    /// - Parameter isExact: Whether there are not fewer changes.
    func subject(isExact: Bool) -> String {
        let count = stores.reduce(0) { $0 + $1.count }
        let names = Set(stores.map(\.name)).sorted().map { "'\($0)'" }.joined(separator: ", ")
        return "a batch of \(isExact ? "" : "up to ")\(count) changes in \(names)"
    }

    /// The journal of batches.
    package static func journal(_ settings: HostSettings) throws(StorageError) -> IntentJournal {
        try IntentJournal(folder: settings.folders.batches)
    }

    /// - Throws: `busy` if a batch was decided but is not in place: code that reads values one by one would see its old
    ///   values as current.
    package static func requireNone(_ snapshot: RouterSnapshot) throws(StorageError) {
        let journal = try journal(snapshot.settings)
        for pending in try journal.pending(kind: kind) where pending.state == .interrupted {
            guard try BatchIntent(pending.payload, of: pending.id).isDecided else { continue }
            throw StorageError(
                .busy, "\(pending.subject) was interrupted and must be completed first",
                hint: "the first use of its stores does that; if not, see: ld-host doctor")
        }
    }
}
