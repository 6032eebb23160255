internal import HostPlugins
internal import LocalDataAPI

/// The changes of a batch in one scope.
struct StagedGroup {
    let scope: AtomicScope
    private(set) var changes: [StorageChange<StoreHandle>] = []
    private(set) var addresses: [StorageAddress] = []

    init(_ scope: AtomicScope) { self.scope = scope }

    var open: OpenStore { scope.open }

    /// The groups of a batch, in the same order in every process.
    static func all(
        of changes: [BatchChange], _ keys: BatchSeals.Keys, progress: () -> Void = {}
    ) throws(StorageError) -> [StagedGroup] {
        var groups: [AtomicScope: StagedGroup] = [:]
        for change in changes {
            let scope = change.resolved.scope
            groups[scope, default: StagedGroup(scope)].add(try change.change(keys), at: change.resolved.address)
            progress()
        }
        return groups.values.sorted {
            ($0.open.name, $0.scope.directory ?? "") < ($1.open.name, $1.scope.directory ?? "")
        }
    }

    mutating func add(_ change: StorageChange<StoreHandle>, at address: StorageAddress) {
        changes.append(change)
        addresses.append(address)
    }

    /// Applies the changes, atomically if there are several, which requires a store with batches.
    func applyAtOnce() throws(StorageError) { try open.apply(changes) }
}
