public import FoundationEssentials
public import LocalDataAPI
internal import Synchronization

extension StorageRouter {
    /// Stores many values, several at a time, on the I/O threads, each as ``setData(_:for:)`` does.
    ///
    /// - Parameters:
    ///   - values: Keys and their bytes.
    ///   - progress: Called after each value, on any thread.
    /// - Throws: The first failure; values stored before it stay.
    public func setData(
        _ values: [(key: AnyStorageKey, data: Data)], progress: @escaping @Sendable () -> Void = {}
    ) async throws {
        let tickets = Tickets()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<min(8, values.count) {
                group.addTask(executorPreference: IOExecutor.shared) {
                    while true {
                        let index = tickets.next()
                        guard index < values.count else { return }
                        try Task.checkCancellation()
                        try await self.setData(values[index].data, for: values[index].key)
                        progress()
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// Returns 0, 1, 2, ..., each once.
private final class Tickets: Sendable {
    private let count = Atomic<Int>(0)

    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).oldValue }
}
