import FoundationEssentials
import Glibc
import LocalDataAPI
import LocalDataTesting

enum BrokenExpiry {
    final class ForgetsWhen: CorrectStore, @unchecked Sendable {
        override func attributes(of key: StorageAddress) throws -> ValueAttributes? {
            var attributes = try super.attributes(of: key)
            attributes?.expires = nil
            return attributes
        }
    }

    final class ReadsExpired: CorrectStore, @unchecked Sendable {
        override func read(_ key: StorageAddress, _ body: (RawSpan) -> Bool) throws -> Bool {
            do { return try super.read(key, body) } catch is ValueExpired {
                _ = body(Data("expired".utf8).bytes)
                return true
            }
        }
    }

    final class SaysAbsent: CorrectStore, @unchecked Sendable {
        override func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) throws -> Bool {
            do { return try super.get(key, deliver) } catch is ValueExpired { return false }
        }
    }

    final class ListsExpired: CorrectStore, @unchecked Sendable {
        override func forEachName(
            in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
        ) throws {
            var names: [String] = []
            func take(_ name: String) -> Bool {
                names.append(name)
                return true
            }
            try super.forEachName(in: place, prefix: prefix, after: after, limit: limit, take)
            guard place.scope.hasPrefix("expiry.list") else {
                for name in names where !body(name) { return }
                return
            }
            try forEachExpired(in: place, take)
            for name in names.sorted().prefix(limit ?? .max) where !body(name) { return }
        }
    }

    final class KeepsTheTime: CorrectStore, @unchecked Sendable {
        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            var attributes = attributes ?? ValueAttributes()
            let old = try? self.attributes(of: key)
            attributes.expires = attributes.expires ?? old?.expires
            try super.set(key, to: value, attributes: attributes)
        }
    }

    final class RemovesExpired: CorrectStore, @unchecked Sendable {
        override func remove(_ key: StorageAddress) throws -> Bool {
            var isExpired = false
            try forEachExpired(in: key.place) {
                isExpired = $0 == key.name
                return !isExpired
            }
            if isExpired { try discard(key) }
            return try super.remove(key) || isExpired
        }
    }

    final class SweepsEverywhere: CorrectStore, @unchecked Sendable {
        override func sweep(_ place: StorageNamespace?, limit: Int) throws -> Int { try super.sweep(nil, limit: limit) }
    }
}
