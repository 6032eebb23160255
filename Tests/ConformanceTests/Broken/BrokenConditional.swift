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
