import FoundationEssentials
import LocalDataAPI
import LocalDataTesting
import Synchronization

enum BrokenPresence {
    /// Finds a value by the beginning of its name.
    final class FindsByPrefix: CorrectStore, @unchecked Sendable {
        override func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) throws -> Bool {
            if try super.get(key, deliver) { return true }
            guard (8...20).contains(key.name.utf8.count) else { return false }
            var longer: String?
            try forEachName(in: key.place, prefix: key.name, after: nil, limit: 1) { name in
                longer = name.utf8.count == key.name.utf8.count + 1 ? name : nil
                return false
            }
            return try longer.map { try super.get(StorageAddress(key.place, name: $0), deliver) } ?? false
        }
    }

    final class SaysYes: CorrectStore, @unchecked Sendable {
        override func exists(_ key: StorageAddress) throws -> Bool {
            key.place.scope.hasPrefix("expiry.") ? try super.exists(key) : true
        }
    }

    /// Writes a short value over the beginning of a longer one.
    final class KeepsTheTail: CorrectStore, @unchecked Sendable {
        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            var data = value.withUnsafeBytes { Data($0) }
            _ = try super.get(key) { old in
                guard (1..<8).contains(data.count), !key.place.scope.hasPrefix("attributes."),
                    old.byteCount > data.count
                else { return }
                old.extracting(droppingFirst: data.count).withUnsafeBytes { data.append(contentsOf: $0) }
            }
            try super.set(key, to: data.bytes, attributes: attributes)
        }
    }

    /// Does not remove values of seven bytes.
    final class KeepsSomeRemoved: CorrectStore, @unchecked Sendable {
        override func remove(_ key: StorageAddress) throws -> Bool {
            if (try? attributes(of: key))?.size == 7 { return true }
            return try super.remove(key)
        }
    }

    final class FailsOnAbsent: CorrectStore, @unchecked Sendable {
        override func remove(_ key: StorageAddress) throws -> Bool {
            let wasThere = try super.remove(key)
            guard wasThere || key.place.scope.hasPrefix("expiry.") else {
                throw StorageError(.notFound, "'\(key)' is not stored")
            }
            return wasThere
        }
    }

    /// Ignores sets through a handle whose value was removed twice.
    final class LetsHandlesDie: CorrectStore, @unchecked Sendable {
        private let removals = Mutex<[StorageAddress: Int]>([:])

        override func resolve(_ address: StorageAddress) -> StorageAddress {
            removals.withLock { $0[address] = 0 }
            return address
        }

        override func remove(_ key: StorageAddress) throws -> Bool {
            guard try super.remove(key) else { return false }
            removals.withLock { $0[key, default: 0] += 1 }
            return true
        }

        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            if removals.withLock({ $0[key, default: 0] }) < 2 { try super.set(key, to: value, attributes: attributes) }
        }
    }

    /// Caches in each handle the last value that was read or written through it.
    final class CachesByHandle: CorrectStore, @unchecked Sendable {
        private let state = Mutex((handles: 0, values: [String: Data]()))

        /// Identifies a handle by its namespace's directory, which a store in memory ignores.
        override func resolve(_ address: StorageAddress) -> StorageAddress {
            let number = state.withLock { state in
                state.handles += 1
                return state.handles
            }
            let place = StorageNamespace(
                domain: address.place.domain, scope: address.place.scope, directory: "/\(number)")
            return StorageAddress(place, name: address.name)
        }

        private func keep(_ data: Data?, _ key: StorageAddress) {
            state.withLock { $0.values[key.place.directory ?? ""] = data }
        }

        override func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) throws -> Bool {
            // Those checks change values by calls that bypass this store's cache.
            guard !key.place.scope.hasPrefix("expiry."), !key.place.scope.hasPrefix("conditional.") else {
                return try super.get(key, deliver)
            }
            if let data = state.withLock({ $0.values[key.place.directory ?? ""] }) {
                deliver(data.bytes)
                return true
            }
            return try super.get(key) { value in
                keep(value.withUnsafeBytes { Data($0) }, key)
                deliver(value)
            }
        }

        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            try super.set(key, to: value, attributes: attributes)
            keep(value.withUnsafeBytes { Data($0) }, key)
        }

        override func remove(_ key: StorageAddress) throws -> Bool {
            keep(nil, key)
            return try super.remove(key)
        }

        override func apply(_ changes: [StorageChange<StorageAddress>]) throws {
            defer { state.withLock { $0.values = [:] } }
            try super.apply(changes)
        }

        override func apply(_ changes: BulkChanges) throws -> [Int] {
            defer { state.withLock { $0.values = [:] } }
            return try super.apply(changes)
        }

        override func write(
            _ key: StorageAddress, attributes: ValueAttributes?, from source: ((RawSpan) throws -> Void) throws -> Void
        ) throws {
            defer { keep(nil, key) }
            try super.write(key, attributes: attributes, from: source)
        }

        override func commit(_ transaction: InMemoryTransaction) throws {
            defer { state.withLock { $0.values = [:] } }
            try super.commit(transaction)
        }
    }
}
