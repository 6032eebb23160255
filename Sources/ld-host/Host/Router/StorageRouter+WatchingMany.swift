public import LocalDataAPI

extension StorageRouter {
    /// The names that are set or removed from now on in every scope of a selection, even in scopes that are still
    /// empty: those are found within about a second.
    ///
    /// - Returns: The changes, and the errors of stores that cannot be watched, if others can.
    /// - Throws: Why the one selected domain cannot be watched, as ``changes(in:prefix:)``.
    public func changes(
        in selection: StorageSelection
    ) async throws -> (changes: StorageChanges<[ScopeChanges]>, failures: [StorageError]) {
        let access = try await access()
        let snapshot = access.snapshot
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let watch = SelectionWatch(signal)
        signal.onTermination = { _ in watch.end() }
        var failures: [StorageError] = []
        var names: [String] = []
        switch selection {
        case .everything: names = snapshot.settings.routes.keys.sorted()
        case .domain(let name): names = [name]
        case .scope(let domain, let prefix): try await watch.add(domain, prefix: prefix, access)
        }
        for name in names {
            do {
                for domain in Set(snapshot.settings.knownDomains(named: name).values).union(
                    try await access.populatedDomains(named: name))
                {
                    try await watch.add(domain, access)
                }
            } catch let error as StorageError where selection == .everything {
                if !failures.contains(where: { $0.message == error.message }) { failures.append(error) }
            }
        }
        let isBroad = !names.isEmpty
        if isBroad { watch.lookForScopes(of: names, access) }
        return (
            StorageChanges(signals: signals) {
                // A store that cannot say what changed notifies each of its watches, one after the other.
                if isBroad { try await Task.sleep(for: .milliseconds(50)) }
                let changes = watch.take()
                return changes.isEmpty ? nil : changes
            }, failures
        )
    }
}
