import FoundationEssentials
import Glibc
import LocalDataAPI
import LocalDataTesting

enum BrokenConditional {
    typealias Deliver = (_ revision: UInt64, _ attributes: ValueAttributes, _ value: RawSpan) -> Void

    final class RevisesBytes: CorrectStore, @unchecked Sendable {
        override func get(_ key: StorageAddress, _ deliver: Deliver) throws -> Bool {
            try super.get(key) { revision, attributes, value in
                let hash = value.withUnsafeBytes { $0.reduce(17) { $0 &* 31 &+ UInt64($1) } }
                deliver(key.name == "written" ? hash : revision, attributes, value)
            }
        }
    }

    final class InventsTags: CorrectStore, @unchecked Sendable {
        override func get(_ key: StorageAddress, _ deliver: Deliver) throws -> Bool {
            try super.get(key) { revision, attributes, value in
                var attributes = attributes
                if key.name == "tagged" { attributes.versionTag = "0" }
                deliver(revision, attributes, value)
            }
        }
    }

    final class ForgetsWhen: CorrectStore, @unchecked Sendable {
        override func get(_ key: StorageAddress, _ deliver: Deliver) throws -> Bool {
            try super.get(key) { revision, attributes, value in
                var attributes = attributes
                if key.name == "lasting" { attributes.expires = nil }
                deliver(revision, attributes, value)
            }
        }
    }

    final class CreatesOver: CorrectStore, @unchecked Sendable {
        override func set(
            _ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?, if condition: WriteCondition
        ) throws -> UInt64? {
            try super.set(key, to: value, attributes: attributes, if: key.name == "created" ? .anything : condition)
        }
    }

    final class ReplacesAny: CorrectStore, @unchecked Sendable {
        override func set(
            _ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?, if condition: WriteCondition
        ) throws -> UInt64? {
            try super.set(key, to: value, attributes: attributes, if: key.name == "replaced" ? .anything : condition)
        }
    }

    final class RemovesAny: CorrectStore, @unchecked Sendable {
        override func remove(_ key: StorageAddress, ifRevision revision: UInt64) throws -> Bool { try remove(key) }
    }

    final class DropsAttributes: CorrectStore, @unchecked Sendable {
        override func set(
            _ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?, if condition: WriteCondition
        ) throws -> UInt64? { try super.set(key, to: value, attributes: nil, if: condition) }
    }

    /// Counts the revisions of conditional calls separately from the marks of bulk calls.
    final class CountsApart: CorrectStore, @unchecked Sendable {
        override func get(_ key: StorageAddress, _ deliver: Deliver) throws -> Bool {
            try super.get(key) { deliver($0 + 1000, $1, $2) }
        }

        override func set(
            _ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?, if condition: WriteCondition
        ) throws -> UInt64? {
            var condition = condition
            if case .revision(let revision) = condition { condition = .revision(revision &- 1000) }
            return try super.set(key, to: value, attributes: attributes, if: condition).map { $0 + 1000 }
        }

        override func remove(_ key: StorageAddress, ifRevision revision: UInt64) throws -> Bool {
            try super.remove(key, ifRevision: revision &- 1000)
        }
    }

    final class LooksFirst: CorrectStore, @unchecked Sendable {
        override func set(
            _ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?, if condition: WriteCondition
        ) throws -> UInt64? {
            var found: UInt64?
            _ = try? super.get(key) { revision, _, _ in found = revision }
            guard condition.isFulfilled(by: found) else { return nil }
            usleep(200)
            return try super.set(key, to: value, attributes: attributes, if: .anything)
        }
    }
}

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

enum BrokenLocks {
    final class GivesTwice: CorrectStore, @unchecked Sendable {
        override func lock(_ name: String, in place: StorageNamespace, waiting wait: Duration) throws -> InMemoryLock? {
            let free = name == "single" ? "\(name) \(UInt64.random(in: 0 ... .max))" : name
            return try super.lock(free, in: place, waiting: wait)
        }
    }

    final class NeverWaits: CorrectStore, @unchecked Sendable {
        override func lock(_ name: String, in place: StorageNamespace, waiting wait: Duration) throws -> InMemoryLock? {
            try super.lock(name, in: place, waiting: .zero)
        }
    }

    final class FoldsNames: CorrectStore, @unchecked Sendable {
        override func lock(_ name: String, in place: StorageNamespace, waiting wait: Duration) throws -> InMemoryLock? {
            try super.lock(name.lowercased(), in: place, waiting: wait)
        }
    }
}
