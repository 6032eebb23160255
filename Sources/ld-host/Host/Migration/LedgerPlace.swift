internal import FoundationEssentials
internal import LocalDataAPI

/// Where a store keeps the ledger and the images of what migrations replaced and removed. No app's value gets there: the
/// domain cannot be configured.
enum LedgerPlace {
    private static let namespace = StorageNamespace(domain: HostSettings.reservedDomains + "migrations")

    /// Whether a place is this one.
    static func holds(_ place: StorageNamespace) -> Bool { place == namespace }

    /// The page of a destination, in the destination's store and sealed as everything in it.
    static func page(of destination: ResolvedKey, _ settings: HostSettings) throws(StorageError) -> ResolvedKey {
        try page(of: destination.address, in: destination.open, settings)
    }

    /// The same for an address in a store.
    static func page(
        of destination: StorageAddress, in open: OpenStore, _ settings: HostSettings
    ) throws(StorageError) -> ResolvedKey {
        let text = "\(destination)"
        // Of a longer address, the page itself says which one it is.
        let name = text.utf8.count <= 900 ? text : "\(text.prefix(200)) \(StableHash.text([text]))"
        let address = StorageAddress(namespace, name: "ledger \(name)")
        let layers = open.sealing.map { [$0.layer(for: address)] } ?? []
        return try resolved(
            address, in: open, layers,
            ValueAttributes(
                contentType: SerializerFormat.json.contentType, serializer: SerializerFormat.json.rawValue,
                appVersion: settings.appVersion, owner: "LocalData"))
    }

    /// Where the image of a value is kept: in the value's own store, and sealed as the value is.
    static func image(
        _ name: String, of key: ResolvedKey, _ attributes: ValueAttributes?
    ) throws(StorageError) -> ResolvedKey {
        let address = StorageAddress(namespace, name: name)
        let layers = key.layers.map {
            SealingLayer(keys: $0.keys, envelope: Envelope(address, crypto: $0.envelope.crypto), style: $0.style)
        }
        return try resolved(address, in: key.open, layers, attributes)
    }

    /// A name that no other image has.
    static func imageName() -> String { "image \(IntentID.next())" }

    private static func resolved(
        _ address: StorageAddress, in open: OpenStore, _ layers: [SealingLayer], _ attributes: ValueAttributes?
    ) throws(StorageError) -> ResolvedKey {
        let isKept = open.store.abilities.attributes != nil || !layers.isEmpty
        return ResolvedKey(
            snapshot: 0, open: open, handle: try open.store.resolve(address), address: address, layers: layers,
            attributes: isKept ? attributes : nil, refusal: nil)
    }
}

extension ResolvedKey {
    /// The same value, with other attributes when it is written.
    func writing(_ attributes: ValueAttributes?) throws(StorageError) -> ResolvedKey {
        ResolvedKey(
            snapshot: 0, open: open, handle: try store.resolve(address), address: address, layers: layers,
            attributes: attributes, refusal: refusal)
    }
}
