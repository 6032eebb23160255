import FoundationEssentials
import LocalDataAPI
import LocalDataTesting
import Synchronization

enum BrokenBulkChanges {
    final class FailsOnAbsent: CorrectStore, @unchecked Sendable {
        override func apply(_ changes: BulkChanges) throws -> [Int] {
            let all = try InMemoryChange.all(of: changes)
            for change in all where change.value == nil && change.condition == .anything {
                guard try exists(change.key) || all.count(where: { $0.key == change.key }) > 1 else {
                    throw StorageError(.notFound, "'\(change.key)' is not stored")
                }
            }
            return try make(all)
        }
    }

    final class FirstWins: CorrectStore, @unchecked Sendable {
        override func apply(_ changes: BulkChanges) throws -> [Int] {
            let all = try InMemoryChange.all(of: changes)
            guard all.allSatisfy({ $0.condition == .anything }) else { return try make(all) }
            var seen: Set<StorageAddress> = []
            return try make(all.filter { seen.insert($0.key).inserted })
        }
    }

    final class CutsAt2048: CorrectStore, @unchecked Sendable {
        override func apply(_ changes: BulkChanges) throws -> [Int] {
            try make(Array(InMemoryChange.all(of: changes).prefix(2048)))
        }
    }

    final class RefusesNone: CorrectStore, @unchecked Sendable {
        override func apply(_ changes: BulkChanges) throws -> [Int] {
            guard changes.count > 0 else { throw StorageError(.unsupported, "there is no change") }
            return try super.apply(changes)
        }
    }

    final class AppliesOneByOne: CorrectStore, @unchecked Sendable {
        override func apply(_ changes: BulkChanges) throws -> [Int] {
            let all = try InMemoryChange.all(of: changes)
            guard all.contains(where: { UInt64($0.value?.count ?? 0) > Self.limit }) else { return try make(all) }
            for change in all { _ = try make([change]) }
            return []
        }
    }

    final class TellsNobody: CorrectStore, @unchecked Sendable {
        private let isAmongMany = Atomic<Bool>(false)

        override func apply(_ changes: BulkChanges) throws -> [Int] {
            isAmongMany.store(true, ordering: .relaxed)
            defer { isAmongMany.store(false, ordering: .relaxed) }
            return try super.apply(changes)
        }

        override func watch(
            _ place: StorageNamespace, prefix: String, changed: @escaping @Sendable (String?) -> Void
        ) throws -> Int {
            try super.watch(place, prefix: prefix) { [self] name in
                if !isAmongMany.load(ordering: .relaxed) { changed(name) }
            }
        }
    }

    /// Gives subclasses the value that a change finds.
    class Looking: BrokenBulk.Reading, @unchecked Sendable {
        func value(of key: StorageAddress) throws -> BrokenBulk.Value? {
            try values(key.place, key.name).first { $0.name == key.name }
        }

        func isExpected(_ change: InMemoryChange) throws -> Bool {
            change.condition.isFulfilled(by: try value(of: change.key)?.mark)
        }

        /// Makes the changes, whatever they expect.
        func force(_ changes: [InMemoryChange]) throws {
            _ = try make(
                changes.map { change in
                    var change = change
                    change.condition = .anything
                    return change
                })
        }
    }

    /// Computes the mark of a value from its bytes.
    final class MarksBytes: Looking, @unchecked Sendable {
        private static func mark(of data: Data) -> UInt64 {
            data.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } | 1
        }

        override func forEachValue(
            in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: BulkBackend.Taker
        ) throws {
            let found = try values(place, prefix, after).map { value in
                var value = value
                if place.scope.hasPrefix("conditional.") { return value }
                value.mark = Self.mark(of: value.data)
                return value
            }
            give(found, largest, body)
        }

        override func apply(_ changes: BulkChanges) throws -> [Int] {
            try make(
                try InMemoryChange.all(of: changes).map { change in
                    guard case .revision(let mark) = change.condition,
                        !change.key.place.scope.hasPrefix("conditional.")
                    else { return change }
                    let now = try value(of: change.key)
                    var change = change
                    change.condition = .revision(now.map { Self.mark(of: $0.data) == mark ? $0.mark : .max } ?? .max)
                    return change
                })
        }
    }

    final class RemovesOnlyValues: CorrectStore, @unchecked Sendable {
        override func apply(_ changes: BulkChanges) throws -> [Int] {
            let all = try InMemoryChange.all(of: changes)
            let refused = all.indices.filter { all[$0].value == nil && all[$0].condition == .absent }
            return try refused.isEmpty ? make(all) : refused
        }
    }

    /// Checks the expectations of all changes before it makes the first change.
    final class LooksAhead: Looking, @unchecked Sendable {
        private let turn = Mutex(())

        override func apply(_ changes: BulkChanges) throws -> [Int] {
            let all = try InMemoryChange.all(of: changes)
            return try turn.withLock { _ in
                let conflicts = try all.indices.filter { try !isExpected(all[$0]) }
                if conflicts.isEmpty { try force(all) }
                return conflicts
            }
        }
    }

    final class TellsTheFirst: CorrectStore, @unchecked Sendable {
        override func apply(_ changes: BulkChanges) throws -> [Int] { Array(try super.apply(changes).prefix(1)) }
    }

    final class AppliesTheRest: CorrectStore, @unchecked Sendable {
        override func apply(_ changes: BulkChanges) throws -> [Int] {
            let all = try InMemoryChange.all(of: changes)
            let conflicts = Set(try make(all))
            if !conflicts.isEmpty { _ = try make(all.indices.filter { !conflicts.contains($0) }.map { all[$0] }) }
            return conflicts.sorted()
        }
    }

    /// Checks an expectation and makes the change in two steps, between which others may change the value.
    final class LooksFirst: Looking, @unchecked Sendable {
        override func apply(_ changes: BulkChanges) throws -> [Int] {
            let all = try InMemoryChange.all(of: changes)
            guard let only = all.first, all.count == 1 else { return try make(all) }
            guard try isExpected(only) else { return [0] }
            BrokenThreads.letOthersRun()
            try force(all)
            return []
        }
    }
}
