internal import Glibc
package import LocalDataAPI
internal import Synchronization

/// Blocks this process's writers to a store without transactions while values are compared and changed atomically.
/// Writers do not block each other; readers pay nothing.
package final class WriterGate: Sendable {
    // Initialized before it is shared, at a fixed address; all uses are system calls.
    nonisolated(unsafe) private let lock: UnsafeMutablePointer<pthread_rwlock_t>
    /// The thread with exclusive access; 0 for none.
    private let owner = Atomic<UInt>(0)

    init() {
        lock = .allocate(capacity: 1)
        lock.initialize(to: pthread_rwlock_t())
        pthread_rwlock_init(lock, nil)
    }

    deinit {
        pthread_rwlock_destroy(lock)
        lock.deinitialize(count: 1)
        lock.deallocate()
    }

    /// Runs `body` while no other thread has exclusive access.
    @inline(__always)
    func whileOpen<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        if owner.load(ordering: .relaxed) == UInt(pthread_self()) { return try body() }
        pthread_rwlock_rdlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return try body()
    }

    /// Runs `body` while no other writer is running. Waits for those that are; must not be nested.
    package func alone<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        pthread_rwlock_wrlock(lock)
        owner.store(UInt(pthread_self()), ordering: .relaxed)
        defer {
            owner.store(0, ordering: .relaxed)
            pthread_rwlock_unlock(lock)
        }
        return try body()
    }

    /// The gate of all stores that the same component serves with the same options, whichever router opened them.
    static func shared(_ identity: UInt64) -> WriterGate {
        gates.withLock { gates in
            if let gate = gates[identity] { return gate }
            let gate = WriterGate()
            gates[identity] = gate
            return gate
        }
    }

    private static let gates = Mutex<[UInt64: WriterGate]>([:])
}
