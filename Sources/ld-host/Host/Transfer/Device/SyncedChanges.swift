internal import Synchronization

/// Those who wait for the addresses of values that sync changes.
package final class SyncedChanges: Sendable {
    private let listeners = Mutex<[UInt64: AsyncStream<String>.Continuation]>([:])
    private let last = Atomic<UInt64>(0)

    package init() {}

    package func stream() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream<String>.makeStream()
        let number = last.wrappingAdd(1, ordering: .relaxed).newValue
        listeners.withLock { $0[number] = continuation }
        continuation.onTermination = { [weak self] _ in _ = self?.listeners.withLock { $0.removeValue(forKey: number) }
        }
        return stream
    }

    package func add(_ addresses: [String]) {
        let listeners = listeners.withLock { Array($0.values) }
        for listener in listeners { for address in addresses { listener.yield(address) } }
    }
}
