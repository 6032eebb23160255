internal import FoundationEssentials
internal import HostPlugins
internal import HostStores
internal import LocalDataAPI

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
