import LocalDataAPI
import LocalDataTesting
import Synchronization

enum BrokenWatches {
    typealias Changed = @Sendable (String?) -> Void

    final class ForgetsRemoves: CorrectStore, @unchecked Sendable {
        private let isAmongMany = Atomic<Bool>(false)

        override func apply(_ changes: BulkChanges) throws -> [Int] {
            isAmongMany.store(true, ordering: .relaxed)
            defer { isAmongMany.store(false, ordering: .relaxed) }
            return try super.apply(changes)
        }

        override func watch(_ place: StorageNamespace, prefix: String, changed: @escaping Changed) throws -> Int {
            try super.watch(place, prefix: prefix) { [self] name in
                let isThere = name.map { try? exists(StorageAddress(place, name: $0)) } ?? true
                if isThere ?? true || isAmongMany.load(ordering: .relaxed) { changed(name) }
            }
        }
    }

    final class ForgetsBatches: CorrectStore, @unchecked Sendable {
        private let isInBatch = Atomic<Bool>(false)

        override func apply(_ changes: [StorageChange<StorageAddress>]) throws {
            isInBatch.store(true, ordering: .relaxed)
            defer { isInBatch.store(false, ordering: .relaxed) }
            try super.apply(changes)
        }

        override func watch(_ place: StorageNamespace, prefix: String, changed: @escaping Changed) throws -> Int {
            try super.watch(place, prefix: prefix) { [self] name in
                if !isInBatch.load(ordering: .relaxed) { changed(name) }
            }
        }
    }

    final class CutsNames: CorrectStore, @unchecked Sendable {
        override func watch(_ place: StorageNamespace, prefix: String, changed: @escaping Changed) throws -> Int {
            try super.watch(place, prefix: prefix) { name in changed(name.map { String($0.prefix(100)) }) }
        }
    }

    final class IgnoresPrefix: CorrectStore, @unchecked Sendable {
        override func watch(_ place: StorageNamespace, prefix: String, changed: @escaping Changed) throws -> Int {
            try super.watch(place, prefix: "", changed: changed)
        }
    }

    final class NeverEnds: CorrectStore, @unchecked Sendable {
        override func unwatch(_ watch: Int) {}
    }
}
