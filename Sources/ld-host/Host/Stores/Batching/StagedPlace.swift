internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import LocalDataAPI

/// Where a batch's changes in one scope are staged. They are named by the batch, the folder if there is one, and their
/// number in the scope.
struct StagedPlace {
    let open: OpenStore
    let namespace: StorageNamespace
    let prefix: String

    // The domain cannot be configured, so it never contains an app's values.
    private static let domain = HostSettings.reservedDomains + "batch"

    /// Whether a namespace is of staged changes.
    static func holds(_ place: StorageNamespace) -> Bool { place.domain == domain }

    init(_ batch: IntentID, in scope: AtomicScope) {
        open = scope.open
        namespace = Self.namespace(scope.directory)
        // A folder may have several names, one of which may be the store's own choice.
        prefix = scope.directory.map { "\(batch) \(StableHash.text([$0]))" } ?? "\(batch)"
    }

    /// Where the changes in a folder are staged, or those of all namespaces without one.
    static func namespace(_ directory: String?) -> StorageNamespace {
        StorageNamespace(domain: domain, directory: directory)
    }

    /// The batch that has staged a change; `nil` for another name.
    static func batch(of name: String) -> IntentID? {
        IntentID(String(name.prefix { $0 != "." && $0 != " " }))
    }

    func handle(_ index: Int) throws(StorageError) -> HeldHandle {
        HeldHandle(open.store, try open.store.resolve(address(index)))
    }

    func address(_ index: Int) -> StorageAddress {
        StorageAddress(namespace, name: "\(prefix).\(index)")
    }

    /// Puts the remaining changes in place, where the value is still the one that the change was made for. If the store
    /// has transactions, it compares and changes atomically; otherwise it goes value by value, or changes in one batch
    /// right after the comparison. It may be called again after an interruption at any point.
    func publish(_ addresses: [StorageAddress]) throws(StorageError) {
        guard open.store.abilities.transactions != nil || open.store.abilities.batch == nil else {
            return try publish(addresses[...], from: 0)
        }
        if open.store.abilities.transactions == nil {
            for index in addresses.indices { try publish(addresses[index...index], from: index) }
            return
        }
        // In each round, others have changed one more of the values, which is then left as it is.
        for _ in 0...addresses.count where try publishAsOne(addresses) { return }
        throw StorageError(
            .busy, "the values that a batch changes in store '\(open.name)' were changed repeatedly",
            hint: "try again")
    }

    /// - Returns: Whether it is done; if not, someone changed a value between comparison and change.
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

    /// The remaining changes.
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

    /// Discards the staged changes of a batch that will not take effect.
    func clear(_ count: Int) throws(StorageError) {
        for index in 0..<count {
            let staged = try handle(index)
            _ = try withExtendedLifetime(staged) { () throws(StorageError) in try open.store.remove(staged.handle) }
        }
    }

    func attributes(of staged: HeldHandle) throws(StorageError) -> ValueAttributes? {
        guard open.store.abilities.attributes != nil else { return nil }
        return try open.store.attributes(of: staged.handle)?.kept
    }
}
