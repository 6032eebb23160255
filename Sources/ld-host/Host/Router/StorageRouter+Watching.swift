internal import HostGround
internal import HostMigration
public import HostStores
public import LocalDataAPI
internal import Synchronization

extension StorageRouter {
    /// The values that a key gets from now on, each as it is when it is read; `nil` when it was removed. Includes
    /// changes by other processes if the store is shared. Changes in quick succession may appear as one.
    ///
    /// ```swift
    /// for try await theme in try await router.changes(of: .theme) { show(theme ?? "light") }
    /// ```
    ///
    /// Stores that cannot report changes are read once a second. When the configuration changes, the watch goes over to
    /// the store that serves the key then. The key's migration runs before the watch begins.
    ///
    /// - Throws: Why the key cannot be used, and whatever the store reports; `MigrationError` if there may be older
    ///   data that could not be migrated.
    public func changes<Value>(of key: StorageKey<Value>) async throws -> StorageChanges<Value?> {
        let resolved = try await resolveForReading(key)
        if let refusal = resolved.refusal { throw refusal }
        let engine = try await engine()
        if try await engine.mayBringData(to: key), try await !resolved.exists() {
            try await engine.bringData(to: AnyStorageKey(key))
        }
        let name = key.name
        let (signals, watch) = try await followedWatch(
            prefix: name, exactly: true, resolved.address.place, resolved.open)
        let seen = SeenValue(try await resolved.open.storedHash(of: resolved))
        return StorageChanges(signals: signals) {
            let resolved = try await self.resolve(key)
            let isOver = try await watch.watch(resolved.address.place, in: resolved.open)
            let changed = watch.feed.take()
            // The watch also reports names that begin with this one, and changes that may not concern it.
            let isNamed = changed?.names.contains { $0.hasBytes(of: name) } == true
            guard isOver || isNamed || changed?.mayBeMore == true else { return nil }
            let isOther = seen.replace(try await resolved.open.storedHash(of: resolved))
            guard isNamed || isOther else { return nil }
            do { return .some(try await self.get(key)) } catch let error as StorageError where error.code == .notFound {
                return .some(nil)
            }
        }
    }

    /// The names in a domain that are set or removed from now on.
    ///
    /// - Parameters:
    ///   - domain: The domain.
    ///   - prefix: Only names that start with it.
    /// - Throws: Why the domain cannot be used, and whatever the store reports; `unsupported` if the store can neither
    ///   report changes nor list.
    public func changes(
        in domain: StorageDomain, prefix: String = ""
    ) async throws -> StorageChanges<ChangedNames> {
        let access = try await access()
        let place = try access.snapshot.settings.place(of: domain)
        let open = try await access.openStore(for: place.domain)
        let (signals, watch) = try await followedWatch(prefix: prefix, exactly: false, place, open)
        return StorageChanges(signals: signals) {
            let access = try await self.access()
            let place = try access.snapshot.settings.place(of: domain)
            let open = try await access.openStore(for: place.domain)
            let isOver = try await watch.watch(place, in: open)
            let changed = watch.feed.take()
            guard isOver || changed != nil else { return nil }
            let isReserved = try await open.write("listing '\(place)'") { (_) throws(StorageError) in
                try access.snapshot.reservedNames(in: place, of: open)
            }
            let names = (changed?.names ?? []).filter { !isReserved($0) }
            let mayBeMore = isOver || changed?.mayBeMore == true
            return names.isEmpty && !mayBeMore ? nil : ChangedNames(names: names, mayBeMore: mayBeMore)
        }
    }

    /// A watch of a place, and what signals its changes and those of the configuration.
    private func followedWatch(
        prefix: String, exactly: Bool, _ place: StorageNamespace, _ open: OpenStore
    ) async throws(StorageError) -> (AsyncStream<Void>, FollowedWatch) {
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let watch = FollowedWatch(signal, prefix: prefix, exactly: exactly)
        let following = signalConfigurations(to: signal)
        signal.onTermination = { _ in
            following.cancel()
            watch.end()
        }
        _ = try await watch.watch(place, in: open)
        return (signals, watch)
    }

    /// Signals each change of the configuration within about half a second.
    private func signalConfigurations(to signal: AsyncStream<Void>.Continuation) -> Task<Void, Never> {
        var last = currentState
        return Task { [weak self] in
            while (try? await Task.sleep(for: .milliseconds(500))) != nil, let state = self?.currentState {
                if state != last { signal.yield() }
                last = state
            }
        }
    }
}

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
        let following = signalConfigurations(to: signal)
        signal.onTermination = { _ in
            following.cancel()
            watch.end()
        }
        var failures: [StorageError] = []
        var names: [String] = []
        switch selection {
        case .everything: names = snapshot.settings.routes.keys.sorted()
        case .domain(let name): names = [name]
        case .scope(let domain, let prefix): try await watch.add(domain, prefix: prefix, access)
        }
        for name in names {
            do {
                // Other programs' changes in folders that they use too would be reported as well.
                let populated = try await access.populatedPlaces(of: name).filter(\.isWhole).map(\.domain)
                for domain in Set(snapshot.settings.knownDomains(named: name).values).union(populated) {
                    try await watch.add(domain, access)
                }
            } catch let error as StorageError where selection == .everything {
                if !failures.contains(where: { $0.message == error.message }) { failures.append(error) }
            }
        }
        let isBroad = !names.isEmpty
        if isBroad { watch.lookForScopes(of: names) { try await self.access() } }
        return (
            StorageChanges(signals: signals) {
                // A store that cannot say what changed notifies each of its watches, one after the other.
                if isBroad { try await Task.sleep(for: .milliseconds(50)) }
                try await watch.follow(self.access())
                let changes = watch.take()
                return changes.isEmpty ? nil : changes
            }, failures
        )
    }
}
