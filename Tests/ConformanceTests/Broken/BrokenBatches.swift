import LocalDataAPI
import LocalDataTesting

enum BrokenBatches {
    typealias Changes = [StorageChange<StorageAddress>]

    final class FailsOnAbsent: CorrectStore, @unchecked Sendable {
        override func apply(_ changes: Changes) throws {
            for change in changes where change.value == nil && changes.count(where: { $0.key == change.key }) == 1 {
                guard try exists(change.key) else { throw StorageError(.notFound, "'\(change.key)' is not stored") }
            }
            try super.apply(changes)
        }
    }

    final class FirstWins: CorrectStore, @unchecked Sendable {
        override func apply(_ changes: Changes) throws {
            var seen: Set<StorageAddress> = []
            try super.apply(changes.filter { seen.insert($0.key).inserted })
        }
    }

    final class AppliesOneByOne: CorrectStore, @unchecked Sendable {
        override func apply(_ changes: Changes) throws { for change in changes { try super.apply([change]) } }
    }

    final class CutsAt128: CorrectStore, @unchecked Sendable {
        override func apply(_ changes: Changes) throws { try super.apply(Array(changes.prefix(128))) }
    }

    final class RefusesEmpty: CorrectStore, @unchecked Sendable {
        override func apply(_ changes: Changes) throws {
            guard !changes.isEmpty else { throw StorageError(.unsupported, "a batch needs a change") }
            try super.apply(changes)
        }
    }

    final class DropsAttributes: CorrectStore, @unchecked Sendable {
        override func apply(_ changes: Changes) throws {
            try super.apply(changes.map { StorageChange(key: $0.key, value: $0.value) })
        }
    }
}
