import LocalDataAPI
@testable import HostStores
@testable import LocalDataHost

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
