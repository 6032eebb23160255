internal import HostStores
internal import LocalDataAPI
internal import Synchronization

/// The results of planned migrations, for those that are planned after them. None of it is stored.
package final class PlannedChanges: Sendable {
    private struct State {
        var values: [ResolvedKey.Target: (change: MigrationTransaction.Entry.Change, version: String?)] = [:]
        var pages: [ResolvedKey.Target: LedgerPage] = [:]
    }

    private let state = Mutex(State())

    /// The planned change of a value; `nil` for none.
    func change(of resolved: ResolvedKey) -> MigrationTransaction.Entry.Change? {
        state.withLock { $0.values[resolved.target]?.change }
    }

    /// The ledger's page of a destination as it would be; `nil` if it is as it is.
    func page(of destination: ResolvedKey) -> LedgerPage? { state.withLock { $0.pages[destination.target] } }

    /// The names in a place that would change, and whether each has a value then.
    func changes(in place: StorageNamespace, of open: OpenStore) -> [String: Bool] {
        let store = ObjectIdentifier(open)
        return state.withLock { state in
            var changes: [String: Bool] = [:]
            for (target, value) in state.values where target.store == store && target.address.place == place {
                changes[target.address.name] = value.change.isSet
            }
            return changes
        }
    }

    /// The version of the app whose data a changed value would be; `nil` if the store does not say it.
    func dataVersion(of resolved: ResolvedKey) -> String? {
        resolved.attributes == nil ? nil : state.withLock { $0.values[resolved.target]?.version }
    }

    /// Takes a change to be made.
    func make(_ change: MigrationTransaction.Entry.Change, to resolved: ResolvedKey, dataVersion: String? = nil) {
        let version = dataVersion ?? resolved.attributes?.appVersion
        state.withLock { $0.values[resolved.target] = (change, version) }
    }

    /// Takes a page to be written.
    func write(_ page: LedgerPage, of destination: ResolvedKey) {
        state.withLock { $0.pages[destination.target] = page }
    }
}
