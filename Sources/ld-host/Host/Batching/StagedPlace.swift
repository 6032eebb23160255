internal import FoundationEssentials
internal import LocalDataAPI

/// Where the changes of one batch lie in a store until they are put in place: named by the batch and their number in the
/// journal's entry.
struct StagedPlace {
    /// The domain cannot be configured, so no value of an app's gets there.
    private static let namespace = StorageNamespace(domain: HostSettings.reservedDomains + "batch")

    let batch: IntentID

    init(_ batch: IntentID) { self.batch = batch }

    func handle(_ index: Int, in open: OpenStore) throws(StorageError) -> HeldHandle {
        HeldHandle(open.store, try open.store.resolve(address(index)))
    }

    private func address(_ index: Int) -> StorageAddress {
        StorageAddress(Self.namespace, name: "\(batch).\(index)")
    }

    /// Puts the changes in place that are not yet. May be called again after it was interrupted at any point.
    func publish(_ addresses: [StorageAddress], in open: OpenStore) throws(StorageError) {
        var changes: [StorageChange<StoreHandle>] = []
        var handles: [HeldHandle] = []
        for (index, address) in addresses.enumerated() {
            let staged = try handle(index, in: open)
            guard let bytes = try open.store.get(staged.handle) else { continue }
            let record = try StagedRecord(bytes, at: self.address(index))
            let target = HeldHandle(open.store, try open.store.resolve(address))
            handles += [staged, target]
            if record.stillReplaces(try open.store.get(target.handle)) {
                changes.append(
                    StorageChange(
                        key: target.handle, value: record.value, attributes: try attributes(of: staged, in: open)))
            }
            changes.append(StorageChange(key: staged.handle, value: nil))
        }
        try withExtendedLifetime(handles) { () throws(StorageError) in try open.apply(changes) }
    }

    /// Removes what was put beside the values of a batch that is not to take effect.
    func clear(_ count: Int, in open: OpenStore) throws(StorageError) {
        for index in 0..<count {
            let staged = try handle(index, in: open)
            _ = try withExtendedLifetime(staged) { () throws(StorageError) in try open.store.remove(staged.handle) }
        }
    }

    private func attributes(of staged: HeldHandle, in open: OpenStore) throws(StorageError) -> ValueAttributes? {
        guard open.store.abilities.attributes != nil else { return nil }
        var attributes = try open.store.attributes(of: staged.handle)
        attributes?.size = nil
        attributes?.modified = nil
        return attributes
    }
}
