public import FoundationEssentials
internal import HostGround
internal import HostMigration
public import HostStores
public import LocalDataAPI
internal import Synchronization

extension StorageRouter {
    /// Makes many changes, all or none, even if the process is killed or the power fails.
    ///
    /// ```swift
    /// try await router.batch { changes in
    ///     try changes.set(account, for: .account)
    ///     try changes.set(token, for: .token)
    ///     changes.remove(.guestName)
    /// }
    /// ```
    ///
    /// - **Order.** The last change of a key wins.
    /// - **Stores.** Changes of one store that has batches (`file`, `sqlite`, `memory`) are one call to it. Changes of
    ///   several stores, and of several folders of a store that keeps them apart (`sqlite`), are staged beside the
    ///   values, written to the host's journal, and then put in place. An interrupted batch is completed when a router
    ///   is next opened, and by the next batch.
    /// - **Readers** may see some of the changes while they are put in place.
    /// - **Others' changes.** If someone changes a value after the batch was written to the journal and before it was
    ///   completed, that change stays.
    ///
    /// Values are held in memory, each about three times.
    ///
    /// - Parameter body: Collects the changes; nothing is done before it returns.
    /// - Throws: What `body` throws; why a key cannot be used; whatever a store reports. Then nothing has changed,
    ///   except with `durabilityUnknown`: the batch is decided, and the rest of it will be put in place.
    public func batch(_ body: (inout StorageBatch) throws -> Void) async throws {
        var batch = StorageBatch()
        try body(&batch)
        try await apply(batch)
    }

    /// Makes the changes of a batch, all or none: see ``batch(_:)``.
    ///
    /// - Parameter progress: Called on any thread, once per value, when its change is prepared.
    public func apply(_ batch: StorageBatch, progress: @escaping @Sendable () -> Void = {}) async throws {
        try await following { try await applyOnce(batch, progress) }
    }

    private func applyOnce(_ batch: StorageBatch, _ progress: @escaping @Sendable () -> Void) async throws {
        let engine = try await engine()
        var changes: [BatchChange] = []
        var keys: [(key: AnyStorageKey, resolved: ResolvedKey)] = []
        var indices: [ResolvedKey.Target: Int] = [:]
        var writes: [(key: StorageKeyDescriptor, resolved: ResolvedKey)] = []
        var removals: [(key: StorageKeyDescriptor, resolved: ResolvedKey)] = []
        for change in batch.changes {
            let resolved = try await resolve(change.key)
            if let refusal = resolved.refusal { throw refusal }
            try await requireOwner(resolved, change.wholeKey.descriptor)
            if let key = change.chainedKey {
                if change.value == nil {
                    try await endWaiting(key, resolved)
                } else {
                    try await keepUnread(key, resolved)
                }
            }
            let value = try await resolved.sealedValue()
            if try await engine.mayBringData(to: change) { keys.append((change.wholeKey, resolved)) }
            if change.value == nil {
                removals.append((change.wholeKey.descriptor, resolved))
            } else if !resolved.isNoted.load(ordering: .relaxed) {
                writes.append((change.wholeKey.descriptor, resolved))
            }
            let written = try change.expires.map { try resolved.writing(resolved.attributes(expires: $0.expiry())) }
            let made = BatchChange(written ?? resolved, value: value, data: change.value)
            if let index = indices[made.target] {
                changes[index] = made
            } else {
                indices[made.target] = changes.count
                changes.append(made)
            }
        }
        let isApplied =
            keys.isEmpty ? false : try await engine.applySuperseding(keys, with: changes, progress: progress)
        if !isApplied { try await engine.access.apply(changes, progress: progress) }
        await engine.noteWrites(writes)
        for (key, resolved) in removals { await engine.note(.removed, resolved, key) }
    }
}

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
