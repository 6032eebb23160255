internal import FoundationEssentials
internal import LocalDataAPI

/// Where the changes of one batch in one scope lie until they are put in place: named by the batch, the folder if there
/// is one, and their number in the scope.
struct StagedPlace {
    private let open: OpenStore
    private let namespace: StorageNamespace
    private let prefix: String

    init(_ batch: IntentID, in scope: AtomicScope) {
        open = scope.open
        // The domain cannot be configured, so no value of an app's gets there.
        namespace = StorageNamespace(domain: HostSettings.reservedDomains + "batch", directory: scope.directory)
        // A folder may be named in several ways, also as the one that is the store's own choice.
        prefix = scope.directory.map { "\(batch) \(StableHash.text([$0]))" } ?? "\(batch)"
    }

    func handle(_ index: Int) throws(StorageError) -> HeldHandle {
        HeldHandle(open.store, try open.store.resolve(address(index)))
    }

    private func address(_ index: Int) -> StorageAddress {
        StorageAddress(namespace, name: "\(prefix).\(index)")
    }

    /// Puts the changes in place that are not yet. May be called again after it was interrupted at any point.
    func publish(_ addresses: [StorageAddress]) throws(StorageError) {
        var changes: [StorageChange<StoreHandle>] = []
        var handles: [HeldHandle] = []
        for (index, address) in addresses.enumerated() {
            let staged = try handle(index)
            guard let bytes = try open.store.get(staged.handle) else { continue }
            let record = try StagedRecord(bytes, at: self.address(index))
            let target = HeldHandle(open.store, try open.store.resolve(address))
            handles += [staged, target]
            if record.stillReplaces(try open.store.get(target.handle)) {
                changes.append(
                    StorageChange(
                        key: target.handle, value: record.value, attributes: try attributes(of: staged)))
            }
            changes.append(StorageChange(key: staged.handle, value: nil))
        }
        try withExtendedLifetime(handles) { () throws(StorageError) in try open.apply(changes) }
    }

    /// Removes what was put beside the values of a batch that is not to take effect.
    func clear(_ count: Int) throws(StorageError) {
        for index in 0..<count {
            let staged = try handle(index)
            _ = try withExtendedLifetime(staged) { () throws(StorageError) in try open.store.remove(staged.handle) }
        }
    }

    private func attributes(of staged: HeldHandle) throws(StorageError) -> ValueAttributes? {
        guard open.store.abilities.attributes != nil else { return nil }
        var attributes = try open.store.attributes(of: staged.handle)
        attributes?.size = nil
        attributes?.modified = nil
        return attributes
    }
}
