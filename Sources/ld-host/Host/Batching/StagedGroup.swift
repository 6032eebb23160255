internal import FoundationEssentials
internal import LocalDataAPI

/// The changes of a batch in one store.
struct StagedGroup {
    let open: OpenStore
    private(set) var changes: [StorageChange<StoreHandle>] = []
    private(set) var addresses: [StorageAddress] = []

    init(_ open: OpenStore) { self.open = open }

    mutating func add(_ change: StorageChange<StoreHandle>, at address: StorageAddress) {
        changes.append(change)
        addresses.append(address)
    }

    /// Makes the changes, all or none if there are several, which takes a store that has batches.
    func applyAtOnce() throws(StorageError) { try open.apply(changes) }

    /// Puts the changes beside the values, for ``StagedPlace/publish(_:in:)``.
    func stage(in place: StagedPlace) throws(StorageError) {
        var staged: [StorageChange<StoreHandle>] = []
        var handles: [HeldHandle] = []
        for (index, change) in changes.enumerated() {
            let handle = try place.handle(index, in: open)
            let current = try open.store.get(change.key)
            let record = StagedRecord(value: change.value, replaces: current)
            staged.append(StorageChange(key: handle.handle, value: record.encoded, attributes: change.attributes))
            handles.append(handle)
        }
        try withExtendedLifetime(handles) { () throws(StorageError) in try open.apply(staged) }
    }
}

extension OpenStore {
    /// Makes changes in order: as one if the store has batches, one by one otherwise.
    func apply(_ changes: [StorageChange<StoreHandle>]) throws(StorageError) {
        if changes.count > 1, store.abilities.batch != nil { return try store.apply(changes) }
        for change in changes {
            if let value = change.value {
                try store.set(change.key, to: value, attributes: change.attributes)
            } else {
                _ = try store.remove(change.key)
            }
        }
    }
}
