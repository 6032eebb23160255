import Synchronization

/// A number that tasks share.
final class Counter: Sendable {
    private let number = Atomic<Int>(0)

    var value: Int { number.load(ordering: .acquiring) }

    func add(_ count: Int = 1) { number.add(count, ordering: .acquiringAndReleasing) }
}
