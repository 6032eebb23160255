internal import HostGround
package import LocalDataAPI
internal import Synchronization

/// The watches of all scopes of a selection, which share one signal.
package final class SelectionWatch: Sendable {
    private struct Scope: Sendable {
        let domain: StorageDomain
        let prefix: String
        let open: OpenStore
        let feed: ChangeFeed
        let isReserved: @Sendable (String) -> Bool
        let end: @Sendable () -> Void
    }

    private struct State {
        var scopes: [StorageNamespace: Scope] = [:]
        var search: Task<Void, Never>?
        var isEnded = false
    }

    private let state = Mutex(State())
    private let signal: AsyncStream<Void>.Continuation

    package init(_ signal: AsyncStream<Void>.Continuation) { self.signal = signal }

    /// Begins to watch a scope, unless it is already watched.
    @discardableResult
    package func add(
        _ domain: StorageDomain, prefix: String = "", _ access: StoreAccess
    ) async throws -> ChangeFeed? {
        let place = try access.snapshot.settings.place(of: domain)
        guard state.withLock({ $0.scopes[place] == nil }) else { return nil }
        let open = try await access.openStore(for: place.domain)
        let isReserved = try await open.write("listing '\(place)'") { (_) throws(StorageError) in
            try access.snapshot.reservedNames(in: place, of: open)
        }
        let feed = ChangeFeed(signal)
        let end = try await open.watch(place, prefix: prefix, exactly: false, feed)
        let scope = Scope(
            domain: domain, prefix: prefix, open: open, feed: feed, isReserved: isReserved, end: end)
        let isLate = state.withLock { state in
            if !state.isEnded { state.scopes[place] = scope }
            return state.isEnded
        }
        if isLate { end() }
        return feed
    }

    /// Goes over to the stores that serve the scopes now, and reports that anything may have changed in those.
    package func follow(_ access: StoreAccess) async throws {
        for (place, scope) in state.withLock({ $0.scopes }) {
            let now = try access.snapshot.settings.place(of: scope.domain)
            let open = try await access.openStore(for: now.domain)
            guard open !== scope.open || now != place else { continue }
            state.withLock { $0.scopes[place] = nil }
            scope.end()
            try await add(scope.domain, prefix: scope.prefix, access)?.add(nil)
        }
    }

    /// Checks once a second for scopes that were empty until then, and reports their values as set.
    package func lookForScopes(of names: [String], _ access: @escaping @Sendable () async throws -> StoreAccess) {
        let search = Task { [weak self] in
            while (try? await Task.sleep(for: .seconds(1))) != nil {
                guard let access = try? await access() else { continue }
                for name in names {
                    for (place, known) in (try? await access.places(of: name)) ?? [:] where known.isWhole {
                        guard let self else { return }
                        guard !self.isWatched(place), let feed = try? await self.add(known.domain, access),
                            let found = try? await access.names(in: known.domain, limit: Self.mostNames)
                        else { continue }
                        found.forEach(feed.add)
                        if found.count == Self.mostNames { feed.add(nil) }
                    }
                }
            }
        }
        state.withLock { $0.search = search }
    }

    /// The most names to report for a new scope.
    private static let mostNames = 1000

    private func isWatched(_ place: StorageNamespace) -> Bool { state.withLock { $0.scopes[place] != nil } }

    /// The changes since the last call, ordered by location. If anything may have changed in several scopes of a
    /// domain, the result names the domain.
    package func take() -> [ScopeChanges] {
        let scopes = state.withLock { $0.scopes.values.sorted { "\($0.domain)" < "\($1.domain)" } }
        var (changes, unknown) = ([ScopeChanges](), [String: [Scope]]())
        for scope in scopes {
            guard let changed = scope.feed.take() else { continue }
            let names = changed.names.filter { !scope.isReserved($0) }
            if !names.isEmpty {
                changes.append(
                    ScopeChanges(
                        location: "\(scope.domain)", scope: scope.domain,
                        changed: ChangedNames(names: names, mayBeMore: false)))
            }
            if changed.mayBeMore {
                unknown[scope.domain.name, default: []].append(scope)
            }
        }
        for (name, scopes) in unknown.sorted(by: { $0.key < $1.key }) {
            let only = scopes.count == 1 ? scopes[0] : nil
            let location = only.map { $0.prefix.isEmpty ? "\($0.domain)" : "\($0.domain)/\($0.prefix)" }
            changes.append(
                ScopeChanges(
                    location: location ?? name, scope: only?.domain,
                    changed: ChangedNames(names: [], mayBeMore: true)))
        }
        return changes
    }

    package func end() {
        let (scopes, search) = state.withLock { state in
            state.isEnded = true
            defer { (state.scopes, state.search) = ([:], nil) }
            return (state.scopes, state.search)
        }
        search?.cancel()
        for scope in scopes.values { scope.end() }
    }
}

/// The hash of the stored value at the last check.
package final class SeenValue: Sendable {
    private let hash: Mutex<UInt64?>

    package init(_ hash: UInt64?) { self.hash = Mutex(hash) }

    /// Records the current hash, and returns whether it differs.
    package func replace(_ now: UInt64?) -> Bool {
        hash.withLock { hash in
            defer { hash = now }
            return hash != now
        }
    }
}
