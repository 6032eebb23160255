public import LocalDataAPI
internal import Synchronization

extension StorageRouter {
    /// The values that a key gets from now on, each as it is when it is read; `nil` when it was removed. Changes by
    /// other processes are told too, if the store is shared. Changes that come quickly one after the other are told as
    /// one.
    ///
    /// ```swift
    /// for try await theme in try await router.changes(of: .theme) { show(theme ?? "light") }
    /// ```
    ///
    /// Stores that cannot tell of changes are asked once a second. A watch goes on with the store that it began with
    /// when the configuration is changed. What the key's migration has to bring is brought before it begins.
    ///
    /// - Throws: What keeps the key from being used, and whatever the store reports; `MigrationError` if there may be
    ///   older data, and it could not be brought here.
    public func changes<Value>(of key: StorageKey<Value>) async throws -> StorageChanges<Value?> {
        let resolved = try await resolve(key)
        if let refusal = resolved.refusal { throw refusal }
        if try await mayBringData(to: key), try await !exists(resolved) { try await bringData(to: AnyStorageKey(key)) }
        let name = key.name
        let (signals, feed) = try await feed(of: resolved.address.place, prefix: name, exactly: true, resolved.open)
        let seen = SeenValue(try await resolved.open.storedHash(of: resolved))
        return StorageChanges(signals: signals) {
            guard let changed = feed.take() else { return nil }
            // Names that begin with this one are watched, too; and anything may have changed but this.
            let isNamed = changed.names.contains { $0.utf8.elementsEqual(name.utf8) }
            guard isNamed || changed.mayBeMore else { return nil }
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
    ///   - domain: Whose names.
    ///   - prefix: Only names that start with it.
    /// - Throws: What keeps the domain from being used, and whatever the store reports; `unsupported` if the store can
    ///   neither tell of changes nor list what it has.
    public func changes(
        in domain: StorageDomain, prefix: String = ""
    ) async throws -> StorageChanges<ChangedNames> {
        let snapshot = try await snapshot()
        let place = try snapshot.settings.place(of: domain)
        let open = try await openStore(for: place.domain, in: snapshot)
        let isReserved = try await open.write("listing '\(place)'") { (_) throws(StorageError) in
            try snapshot.reservedNames(in: place, of: open)
        }
        let (signals, feed) = try await feed(of: place, prefix: prefix, exactly: false, open)
        return StorageChanges(signals: signals) {
            guard let changed = feed.take() else { return nil }
            let names = changed.names.filter { !isReserved($0) }
            return names.isEmpty && !changed.mayBeMore
                ? nil : ChangedNames(names: names, mayBeMore: changed.mayBeMore)
        }
    }

    /// Begins to watch; it ends when nobody has the signals any more.
    private func feed(
        of place: StorageNamespace, prefix: String, exactly: Bool, _ open: OpenStore
    ) async throws(StorageError) -> (AsyncStream<Void>, ChangeFeed) {
        let (signals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let feed = ChangeFeed(continuation)
        let end = try await watch(place, prefix: prefix, exactly: exactly, open, feed)
        continuation.onTermination = { _ in end() }
        return (signals, feed)
    }

    /// Begins to watch a place.
    ///
    /// - Returns: What ends it.
    func watch(
        _ place: StorageNamespace, prefix: String, exactly: Bool, _ open: OpenStore, _ feed: ChangeFeed
    ) async throws(StorageError) -> @Sendable () -> Void {
        guard open.store.abilities.watch != nil else {
            let poll = StorePoll(open: open, place: place, prefix: prefix, exactly: exactly)
            let first = try await poll.look()
            let polling = Task { await poll.tell(feed, after: first) }
            return { polling.cancel() }
        }
        let watch = try await open.wait("watching '\(place)'") { () throws(StorageError) in
            try open.store.watch(place, prefix: prefix) { feed.add($0) }
        }
        return { IOExecutor.shared.submit { open.store.unwatch(watch) } }
    }
}

/// What was stored when it was last looked at.
private final class SeenValue: Sendable {
    private let hash: Mutex<UInt64?>

    init(_ hash: UInt64?) { self.hash = Mutex(hash) }

    /// Takes another look, and tells whether it differs.
    func replace(_ now: UInt64?) -> Bool {
        hash.withLock { hash in
            defer { hash = now }
            return hash != now
        }
    }
}

extension OpenStore {
    /// A hash of the stored bytes; `nil` if there are none.
    fileprivate func storedHash(of resolved: ResolvedKey) async throws(StorageError) -> UInt64? {
        try await read("reading '\(resolved.address)'") { (store) throws(StorageError) in
            try store.get(resolved.handle).map { StableHash.of($0) }
        }
    }
}
