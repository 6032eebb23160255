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

    /// Puts the changes in place that are not yet, where the value is the one that the change was made for; compared
    /// and changed as one if the store has transactions, else value by value or in one batch right after the
    /// comparison. May be called again after it was interrupted at any point.
    func publish(_ addresses: [StorageAddress]) throws(StorageError) {
        guard open.store.abilities.transactions != nil || open.store.abilities.batch == nil else {
            return try publish(addresses[...], from: 0)
        }
        if open.store.abilities.transactions == nil {
            for index in addresses.indices { try publish(addresses[index...index], from: index) }
            return
        }
        // Each time, one more of them has been changed by others, and is left to them.
        for _ in 0...addresses.count where try publishAsOne(addresses) { return }
        throw StorageError(
            .busy, "the values that a batch changes in store '\(open.name)' were changed again and again",
            hint: "try again")
    }

    /// - Returns: Whether it is done; if not, another changed one of the values between comparison and change.
    private func publishAsOne(_ addresses: [StorageAddress]) throws(StorageError) -> Bool {
        let view = try StoreView(AtomicScope(open, directory: namespace.directory))
        let (changes, handles) = try changes(addresses[...], from: 0) { (key) throws(StorageError) in
            try view.read(key.handle, of: key)
        }
        return try withExtendedLifetime(handles) { () throws(StorageError) in try view.apply(changes) }
    }

    private func publish(_ addresses: ArraySlice<StorageAddress>, from first: Int) throws(StorageError) {
        let (changes, handles) = try changes(addresses, from: first) { (key) throws(StorageError) in
            try open.store.get(key.handle)
        }
        try withExtendedLifetime(handles) { () throws(StorageError) in try open.apply(changes) }
    }

    /// What is to be done yet.
    private func changes(
        _ addresses: ArraySlice<StorageAddress>, from first: Int, read: (HeldHandle) throws(StorageError) -> Data?
    ) throws(StorageError) -> ([StorageChange<StoreHandle>], [HeldHandle]) {
        var changes: [StorageChange<StoreHandle>] = []
        var handles: [HeldHandle] = []
        for (index, address) in zip(first..., addresses) {
            let staged = try handle(index)
            guard let bytes = try read(staged) else { continue }
            let record = try StagedRecord(bytes, at: self.address(index))
            let target = HeldHandle(open.store, try open.store.resolve(address))
            handles += [staged, target]
            if record.stillReplaces(try read(target)) {
                changes.append(
                    StorageChange(key: target.handle, value: record.value, attributes: try attributes(of: staged)))
            }
            changes.append(StorageChange(key: staged.handle, value: nil))
        }
        return (changes, handles)
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
