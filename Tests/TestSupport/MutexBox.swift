import Synchronization

/// A mutex that closures can share.
package final class MutexBox<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    package init(_ value: Value) { self.value = Mutex(value) }

    package func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try value.withLock { value in try body(&value) }
    }
}

/// A number that tasks share.
package final class Counter: Sendable {
    private let number = Atomic<Int>(0)

    package init() {}

    package var value: Int { number.load(ordering: .acquiring) }

    package func add(_ count: Int = 1) { number.add(count, ordering: .acquiringAndReleasing) }
}
