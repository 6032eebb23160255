import LocalDataAPI
import LocalDataTesting
import Synchronization

enum BrokenBoundary {
    final class DeliversTwice: CorrectStore, @unchecked Sendable {
        override func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) throws -> Bool {
            try super.get(key) { value in
                deliver(value)
                // A host refuses all such values, so break only a size that no other check uses.
                if value.byteCount == 77_777 { deliver(value) }
            }
        }
    }

    final class HoldsALock: CorrectStore, @unchecked Sendable {
        private let lock = Mutex(())

        override func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) throws -> Bool {
            try lock.withLock { _ in try super.get(key, deliver) }
        }

        override func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
            try lock.withLock { _ in try super.set(key, to: value, attributes: attributes) }
        }
    }
}
