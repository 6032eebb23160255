import LocalDataAPI
@testable import HostStores
@testable import LocalDataHost

/// The ways in which an app reads a value.
enum HistoryReading: String, CaseIterable, Sendable {
    case get, exists, update, getNow, load, revisioned

    /// The kind of event that it needs; `nil` for none.
    var kind: HistoryKind? {
        switch self {
        case .exists: .exists
        case .getNow: .readsAtOnce
        case .update: .updates
        default: nil
        }
    }

    /// Whether the value itself is not seen.
    var isBlind: Bool { self == .exists }
}

/// The ways in which an app writes a value.
enum HistoryWriting: String, CaseIterable, Sendable {
    case set, batch, property, update, untyped

    /// The kind of event that it needs; `nil` for none.
    var kind: HistoryKind? {
        switch self {
        case .batch: .batches
        case .update: .updates
        default: nil
        }
    }
}

/// A key of a history, whatever its type.
protocol HistoryAccess: Sendable {
    var erased: AnyStorageKey { get }
    /// The number in the value; `nil` if it is absent. For a blind way any number.
    func read(_ way: HistoryReading, _ router: StorageRouter) async throws -> Int?
    func write(_ number: Int, _ way: HistoryWriting, _ router: StorageRouter) async throws
    func add(_ number: Int, to batch: inout StorageBatch) throws
    func remove(_ router: StorageRouter) async throws
}
