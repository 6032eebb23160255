internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import HostStores
internal import LocalDataAPI

/// One of the two ranges of a bulk migration, in the store that serves it. Calls may wait.
struct BulkPlace: Sendable {
    let range: MigrationRange
    let open: OpenStore
    let namespace: StorageNamespace
    private let snapshot: RouterSnapshot

    /// - Throws: `unsupported` for values that are sealed with material that a provider gives for each key; what keeps
    ///   the range's store from being opened.
    init(_ range: MigrationRange, _ snapshot: RouterSnapshot) throws(StorageError) {
        self.range = range
        self.snapshot = snapshot
        namespace = try snapshot.settings.place(of: range.domain)
        open = try snapshot.slot(for: namespace.domain).openIfNeeded()
        if case .encrypted(.external(let source, _)) = range.security {
            throw StorageError(
                .unsupported,
                "the values of '\(range)' are sealed with key material of '\(source.id)', which is given for each key",
                hint: "migrate them key by key")
        }
    }

    /// Whether its values are stored as they are: then no key stands between them and their store's calls for many at
    /// once.
    var isPlain: Bool {
        range.security == .none && open.sealing == nil
            && !["encryptedFileSystem", "keychain"].contains(namespace.domain)
    }

    var scope: AtomicScope { AtomicScope(namespace, in: open) }

    func address(_ name: String) -> StorageAddress { StorageAddress(namespace, name: name) }

    /// The key of a name.
    ///
    /// - Parameter attributes: The attributes to write with its value, if the store keeps any.
    func key(_ name: String, _ attributes: ValueAttributes? = nil) throws(StorageError) -> ResolvedKey {
        let address = address(name)
        if namespace.domain == "keychain", try snapshot.isReserved(address, in: open) {
            throw StorageError(
                .securityApplicationFailed, "'\(address)' has keys of the host; no value is migrated there",
                hint: "see: ld-host keys list")
        }
        var layers: [SealingLayer] = []
        if range.security != .none || open.sealing != nil || namespace.domain == "encryptedFileSystem" {
            switch snapshot.protection(of: range.security, at: address, in: open).outcome {
            case .layers(let found): layers = found
            case .refused(let error): throw error
            }
        }
        let keeps = open.store.abilities.attributes != nil || !layers.isEmpty
        return ResolvedKey(
            open: open, handle: try open.store.resolve(address), address: address, layers: layers,
            attributes: keeps ? attributes : nil, refusal: nil)
    }

    /// Names of the range in their order, but for those of the host's own keys.
    ///
    /// - Parameter limit: The most; there are fewer only if there are no more.
    /// - Throws: `unsupported` if the store cannot list what it holds.
    func names(after: String?, limit: Int) throws(StorageError) -> [String] {
        var names: [String] = []
        try forEachName(after: after) {
            names.append($0)
            return names.count < limit
        }
        return names
    }

    func forEachName(after: String? = nil, _ body: (String) -> Bool) throws(StorageError) {
        guard open.store.abilities.enumeration != nil else {
            throw StorageError(
                .unsupported, "the store '\(open.name)' cannot list what it holds, so '\(range)' cannot be migrated",
                hint: "migrate key by key, or map the domain to a store that lists")
        }
        try open.repeating { () throws(StorageError) in
            let isReserved = try snapshot.reservedNames(in: namespace, of: open)
            try open.store.forEachName(in: namespace, prefix: range.prefix, after: after) {
                isReserved($0) || body($0)
            }
        }
    }
}
