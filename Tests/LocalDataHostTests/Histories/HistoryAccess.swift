import FoundationEssentials
import LocalDataAPI

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

struct HistoryTypedAccess<Value: HistoryContent>: HistoryAccess {
    let key: StorageKey<Value>

    var erased: AnyStorageKey { AnyStorageKey(key) }

    func read(_ way: HistoryReading, _ router: StorageRouter) async throws -> Int? {
        do {
            switch way {
            case .get: return try await router.get(key).historyNumber
            case .exists: return try await router.exists(key) ? 0 : nil
            case .update: return try await router.update(key) { _ in }?.historyNumber
            case .getNow: return try router.getNow(key).historyNumber
            case .revisioned: return try await router.revisioned(key)?.value.historyNumber
            case .load:
                let property = Stored(wrappedValue: Value(history: -1), key, router: router)
                try await property.projectedValue.load()
                let number = property.wrappedValue.historyNumber
                return number == -1 ? nil : number
            }
        } catch StorageError.notFound {
            return nil
        }
    }

    func write(_ number: Int, _ way: HistoryWriting, _ router: StorageRouter) async throws {
        let value = Value(history: number)
        switch way {
        case .set: try await router.set(value, for: key)
        case .batch: try await router.batch { try $0.set(value, for: key) }
        case .property:
            let property = Stored(wrappedValue: Value(history: -1), key, router: router)
            property.wrappedValue = value
            try await property.projectedValue.save()
        case .update: _ = try await router.update(key) { $0 = value }
        case .untyped: try await router.setData(try key.serializer.encode(value), for: erased)
        }
    }

    func add(_ number: Int, to batch: inout StorageBatch) throws { try batch.set(Value(history: number), for: key) }

    func remove(_ router: StorageRouter) async throws { _ = try await router.remove(key) as Bool }
}
