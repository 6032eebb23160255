import LocalDataAPI
import LocalDataTesting
import Synchronization

enum BrokenEnumeration {
    /// Gives subclasses the names that the correct store lists.
    class Listing: CorrectStore, @unchecked Sendable {
        func names(_ place: StorageNamespace, _ prefix: String = "", _ after: String? = nil) throws -> [String] {
            var names: [String] = []
            try super.forEachName(in: place, prefix: prefix, after: after, limit: nil) {
                names.append($0)
                return true
            }
            return names
        }

        func give(_ names: [String], _ limit: Int?, _ body: (String) -> Bool) {
            for name in names.prefix(limit ?? names.count) where !body(name) { return }
        }
    }

    final class SortsAsText: Listing, @unchecked Sendable {
        override func forEachName(
            in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
        ) throws { give(try names(place, prefix, after).sorted(), limit, body) }
    }

    final class ListsRemoved: Listing, @unchecked Sendable {
        private let removed = Mutex<Set<StorageAddress>>([])

        override func remove(_ key: StorageAddress) throws -> Bool {
            removed.withLock { _ = $0.insert(key) }
            return try super.remove(key)
        }

        override func forEachName(
            in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
        ) throws {
            let removed = removed.withLock { $0 }.filter { $0.place == place }.map(\.name)
            let all = Set(try names(place, prefix, after) + removed)
            give(all.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }, limit, body)
        }
    }

    final class ListsNeighbours: Listing, @unchecked Sendable {
        override func forEachName(
            in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
        ) throws {
            var all: [String] = []
            try forEachPlace { other in
                if other.scope.hasPrefix(place.scope) { all += (try? names(other, prefix, after)) ?? [] }
                return true
            }
            give(all.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }, limit, body)
        }
    }

    final class ComparesCharacters: Listing, @unchecked Sendable {
        override func forEachName(
            in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
        ) throws { give(try names(place, "", after).filter { prefix.isEmpty || $0.hasPrefix(prefix) }, limit, body) }
    }

    final class RepeatsTheLast: Listing, @unchecked Sendable {
        override func forEachName(
            in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
        ) throws {
            let all = try names(place, prefix)
            give(
                all.filter { name in after.map { !name.utf8.lexicographicallyPrecedes($0.utf8) } ?? true }, limit, body)
        }
    }

    final class IgnoresLimit: CorrectStore, @unchecked Sendable {
        override func forEachName(
            in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
        ) throws { try super.forEachName(in: place, prefix: prefix, after: after, limit: nil, body) }
    }

    final class NeverStops: CorrectStore, @unchecked Sendable {
        override func forEachName(
            in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
        ) throws {
            try super.forEachName(in: place, prefix: prefix, after: after, limit: limit) {
                _ = body($0)
                return true
            }
        }
    }

    final class ListsEmptyPlaces: CorrectStore, @unchecked Sendable {
        private let places = Mutex<Set<StorageNamespace>>([])

        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            places.withLock { _ = $0.insert(key.place) }
            try super.set(key, to: value, attributes: attributes)
        }

        override func forEachPlace(_ body: (StorageNamespace) -> Bool) {
            for place in places.withLock({ $0 }) where !body(place) { return }
        }
    }

    final class ListsByIndex: Listing, @unchecked Sendable {
        override func forEachName(
            in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
        ) throws {
            for index in 0..<(limit ?? .max) {
                let now = try names(place, prefix, after)
                guard index < now.count, body(now[index]) else { return }
            }
        }
    }
}
