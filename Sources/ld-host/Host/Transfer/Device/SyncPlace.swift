internal import FoundationEssentials
internal import HostGround
internal import HostStores
internal import LocalDataAPI

/// Where a store keeps what sync knows of its values: beside them, so that both change as one. No app's value gets
/// there: the domain cannot be configured.
enum SyncPlace {
    /// What the names of entries begin with; the hashed names of their keys follow.
    static let entryPrefix = "entry "
    /// What the names of records that are kept aside begin with, likewise.
    static let parkedPrefix = "parked "

    /// The entry of a key.
    static func entry(_ name: String, in open: OpenStore) throws(StorageError) -> ResolvedKey {
        try value(entryPrefix + name, in: open)
    }

    /// A record of a key that this device's software cannot use, sealed under the group's keys.
    static func parked(_ name: String, in open: OpenStore) throws(StorageError) -> ResolvedKey {
        try value(parkedPrefix + name, in: open)
    }

    /// How far sync has come: in one store only.
    static func progress(in open: OpenStore) throws(StorageError) -> ResolvedKey { try value(progressName, in: open) }
    static let progressName = "progress"

    /// What is known of the stores: in the same store.
    static func stores(in open: OpenStore) throws(StorageError) -> ResolvedKey { try value(storesName, in: open) }
    static let storesName = "stores"

    /// The number of the last change that sync has made in a store, as 8 bytes, big-endian: in each but the home store.
    static func changes(in open: OpenStore) throws(StorageError) -> ResolvedKey { try value(changesName, in: open) }
    static let changesName = "changes"

    /// What stores that keep attributes keep beside them.
    static let attributes = ValueAttributes(owner: "LocalData")

    /// The log of the group's members: in the same store.
    static func log(in open: OpenStore) throws(StorageError) -> ResolvedKey { try value("log", in: open) }

    /// How long this device has not heard of others: in the same store.
    static func presence(in open: OpenStore) throws(StorageError) -> ResolvedKey { try value("presence", in: open) }

    /// Whether this device leads its group: in the same store. Only a member has it.
    static func standing(in open: OpenStore) throws(StorageError) -> ResolvedKey { try value("standing", in: open) }

    /// Which machine this device is: in the same store.
    static func machine(in open: OpenStore) throws(StorageError) -> ResolvedKey { try value("machine", in: open) }

    private static func value(_ name: String, in open: OpenStore) throws(StorageError) -> ResolvedKey {
        let address = StorageAddress(HostSettings.syncNamespace, name: name)
        return try ResolvedKey(
            hostsOwn: address, in: open, open.sealing.map { [$0.layer(for: address)] } ?? [],
            attributes)
    }
}

extension ResolvedKey {
    /// The value, opened; `nil` if absent. May wait.
    func valueNow() throws(StorageError) -> Data? {
        try open.repeating { () throws(StorageError) in try sealedValue(layers).get() }
    }

    /// Stores a value durably. May wait.
    func setNow(_ data: Data) throws(StorageError) {
        try sealedValue(layers).set(data, attributes: attributes)
    }
}
