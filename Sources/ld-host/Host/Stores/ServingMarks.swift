package import HostGround
package import HostPlugins
internal import LocalDataAPI
internal import Synchronization

/// What the open stores of a router serve, and what they did: a change of a value that another store serves since the
/// configuration's files were read again is refused, and its call is made again there. Switches in code refuse nothing:
/// calls in flight end on the store that they began with.
package final class ServingMarks: Sendable {
    private struct State {
        var number: UInt64 = 0
        /// The domains of each store, ever and now.
        var served: [HostSettings.Store: Set<String>] = [:]
        var serving: [HostSettings.Store: Set<String>] = [:]
        var marks: [(store: HostSettings.Store, mark: ServingMark)] = []
        var follower: ServingMark.Follower?

        func updateMarks() { for (store, mark) in marks { mark.update(number, retired: retired(store)) } }

        func retired(_ store: HostSettings.Store) -> Set<String> {
            (served[store] ?? []).subtracting(serving[store] ?? [])
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Sets who looks at the configuration when a change finds that it may have changed.
    package func follow(by follower: @escaping ServingMark.Follower) { state.withLock { $0.follower = follower } }

    /// The mark of a store that is being opened; `nil` if no router looks at the configuration.
    func mark(of store: HostSettings.Store) -> ServingMark? {
        state.withLock { state in
            guard let follower = state.follower else { return nil }
            let mark = ServingMark(follower)
            mark.update(state.number, retired: state.retired(store))
            state.marks.append((store, mark))
            return mark
        }
    }

    /// Looks at the configuration if it may have changed.
    ///
    /// - Throws: ``StorageError/superseded`` if a domain has another store by now than one of these routes says.
    func require(_ routes: [String: HostSettings.Route]) throws(StorageError) {
        guard let (follower, number) = state.withLock({ state in state.follower.map { ($0, state.number) } }) else {
            return
        }
        if ConfigurationPage.ofUser.number != number { try follower() }
        let isCurrent = state.withLock { state in
            routes.allSatisfy { state.serving[$0.value.store]?.contains($0.key) == true }
        }
        guard isCurrent else { throw StorageError.superseded }
    }

    /// Notes what serves each domain since a change in code. Whatever served it before may still be changed.
    package func add(_ routes: [String: HostSettings.Route]) {
        state.withLock { state in
            for (domain, route) in routes {
                state.served[route.store, default: []].insert(domain)
                state.serving[route.store, default: []].insert(domain)
            }
            state.updateMarks()
        }
    }

    /// Notes what serves each domain, by the files that were read after the page had a number.
    package func update(_ number: UInt64, _ routes: [String: HostSettings.Route]) {
        state.withLock { state in
            state.number = number
            state.serving = [:]
            for (domain, route) in routes {
                state.served[route.store, default: []].insert(domain)
                state.serving[route.store, default: []].insert(domain)
            }
            state.updateMarks()
        }
    }
}
