internal import FoundationEssentials
internal import LocalDataAPI
internal import Synchronization

/// The reads and changes of one migration, taken from its transaction.
struct PlannedWork {
    private(set) var reads: [MigrationPlan.Value]
    private(set) var writes: [MigrationPlan.Value] = []
    private(set) var removes: [MigrationPlan.Value] = []
    private(set) var changes: [(resolved: ResolvedKey, change: MigrationTransaction.Entry.Change)] = []

    init(_ entries: [MigrationTransaction.Entry]) {
        reads = entries.compactMap { entry in entry.sizeBefore.map { entry.value(size: $0) } }
    }

    /// Takes one change, unless it changes nothing.
    mutating func add(_ entry: MigrationTransaction.Entry) async throws(StorageError) {
        switch entry.change {
        case nil: return
        case .removal:
            guard let size = entry.sizeBefore else { return }
            removes.append(entry.value(size: size))
        case .set(let data):
            if try await entry.dataBefore() == data { return }
            writes.append(entry.value(size: data.count))
        case .copy(_, let size): writes.append(entry.value(size: size))
        }
        if let change = entry.change { changes.append((entry.resolved, change)) }
    }

    /// In a sentence.
    func reason(_ destination: StorageAddress) -> String {
        let targets = writes.map { "'\($0.address)'" }.joined(separator: ", ")
        let sources = removes.map { "'\($0.address)'" }.joined(separator: ", ")
        let verb = removes.count == 1 ? "is" : "are"
        switch (writes.isEmpty, removes.isEmpty) {
        case (false, false): return "data goes to \(targets), and \(sources) \(verb) removed after that"
        case (false, true): return "data goes to \(targets)"
        default: return "\(sources) \(verb) removed"
        }
    }
}

extension MigrationTransaction.Entry {
    fileprivate func dataBefore() async throws(StorageError) -> Data? {
        switch planned {
        case .set(let data): return data
        // Nothing is like a value that is too large to be looked at.
        case .removal, .copy: return nil
        case nil:
            guard let stored else { return nil }
            return try await resolved.opened(stored)
        }
    }

    fileprivate func value(size: Int) -> MigrationPlan.Value {
        let key = key.descriptor
        return MigrationPlan.Value(address: "\(key.domain)/\(key.name)", size: size)
    }
}

/// The results of planned migrations, for those that are planned after them. None of it is stored.
final class PlannedChanges: Sendable {
    private struct State {
        var values: [BatchChange.Target: (change: MigrationTransaction.Entry.Change, version: String?)] = [:]
        var pages: [BatchChange.Target: LedgerPage] = [:]
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
