internal import FoundationEssentials
internal import LocalDataAPI

extension StorageRouter {
    /// Makes many changes, all of them or none, also if the process is killed or the power fails.
    ///
    /// ```swift
    /// try await router.batch { changes in
    ///     try changes.set(account, for: .account)
    ///     try changes.set(token, for: .token)
    ///     changes.remove(.guestName)
    /// }
    /// ```
    ///
    /// - **Order.** A later change of a key wins over an earlier one.
    /// - **Stores.** Changes of one store that has batches (`file`, `sqlite`, `memory`) are one call to it. Those of
    ///   several stores, and of several folders of a store that keeps them apart (`sqlite`), are put beside the values
    ///   first, written down in the host's journal, and then put in place; what is interrupted after that is completed
    ///   when a router is next opened, and by the next batch.
    /// - **Readers** that come while changes are put in place may see some of them already.
    /// - **Others' changes.** A value that someone changes after the batch was written down and before it was completed
    ///   stays as they left it.
    ///
    /// Values are held in memory, each about three times.
    ///
    /// - Parameter body: Collects the changes; nothing is done before it returns.
    /// - Throws: What `body` throws; what keeps any of the keys from being used; whatever a store reports: then nothing
    ///   has changed, except with `durabilityUnknown`: the batch is decided, and what is not in place yet will be.
    public func batch(_ body: (inout StorageBatch) throws -> Void) async throws {
        var batch = StorageBatch()
        try body(&batch)
        try await apply(batch)
    }

    /// Makes the changes of a batch, all of them or none: see ``batch(_:)``.
    ///
    /// - Parameter progress: Called once for each value that changes, when it is prepared, on any thread.
    public func apply(_ batch: StorageBatch, progress: @escaping @Sendable () -> Void = {}) async throws {
        let engine = try await engine()
        var changes: [BatchChange] = []
        var keys: [(key: AnyStorageKey, resolved: ResolvedKey)] = []
        var indices: [BatchChange.Target: Int] = [:]
        for change in batch.changes {
            let resolved = try await resolve(change.key)
            if let refusal = resolved.refusal { throw refusal }
            let value = try await resolved.sealedValue()
            if try await engine.mayBringData(to: change) { keys.append((change.wholeKey, resolved)) }
            let made = BatchChange(resolved, value: value, data: change.value)
            if let index = indices[made.target] {
                changes[index] = made
            } else {
                indices[made.target] = changes.count
                changes.append(made)
            }
        }
        if !keys.isEmpty, try await engine.applySuperseding(keys, with: changes, progress: progress) { return }
        try await engine.access.apply(changes, progress: progress)
    }
}
