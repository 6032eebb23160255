internal import ByteCoding
internal import FoundationEssentials
package import HostGround
internal import HostPlugins
internal import HostSealing
package import HostStores
package import LocalDataAPI

/// Where a store keeps the ledger and the images of what migrations replaced and removed. No app's value gets there:
/// the domain cannot be configured.
package enum LedgerPlace {
    package static let namespace = HostSettings.ledgerNamespace

    /// The prefix of the names of pages.
    package static let pagePrefix = "ledger "
    /// The prefix of the names of images.
    static let imagePrefix = "image "

    /// The name of a destination's page.
    package static func pageName(of address: String) -> String {
        // Of a longer address, the page itself says which one it is.
        address.utf8.count <= 900
            ? pagePrefix + address : "\(pageNamePrefix(of: address)) \(StableHash.text([address]))"
    }

    /// What the names begin with of all pages whose destinations begin so, and of some others.
    static func pageNamePrefix(of address: String) -> String {
        pagePrefix + String(address.unicodeScalars.prefix(200))
    }

    /// A page, or what is kept of one, in the destination's store and sealed as everything in it.
    package static func page(
        named name: String, in open: OpenStore, _ settings: HostSettings
    ) throws(StorageError) -> ResolvedKey {
        let address = address(name)
        let layers = open.sealing.map { [$0.layer(for: address)] } ?? []
        return try ResolvedKey(
            hostsOwn: address, in: open, layers,
            ValueAttributes(
                contentType: SerializerFormat.json.contentType, serializer: SerializerFormat.json.rawValue,
                appVersion: settings.appVersion, owner: "LocalData"))
    }

    /// Where the image of a value is kept: in the value's own store, and sealed as the value is.
    package static func image(
        _ name: String, of key: ResolvedKey, _ attributes: ValueAttributes?
    ) throws(StorageError) -> ResolvedKey {
        try ResolvedKey(
            hostsOwn: address(name), in: key.open, key.layers.map { $0.resealing(address(name)) }, attributes)
    }

    /// Where the ``SourceWitness`` of a destination is kept: in a store that has its ledger.
    static func witness(
        _ name: String, of key: ResolvedKey, in open: OpenStore
    ) throws(StorageError) -> ResolvedKey {
        let address = address(name)
        let ofPolicy = key.open.sealing == nil ? key.layers[...] : key.layers.dropLast()
        let layers = ofPolicy.map { $0.resealing(address) } + (open.sealing.map { [$0.layer(for: address)] } ?? [])
        return try ResolvedKey(hostsOwn: address, in: open, layers, nil)
    }

    /// A name that no other witness has.
    static func witnessName() -> String { "witness \(IntentID.next())" }

    /// A name that no other hash of a written value has.
    static func writtenName() -> String { "written \(IntentID.next())" }

    /// A name that no other image has.
    static func imageName() -> String { "\(imagePrefix)\(IntentID.next())" }

    /// A name for a page that cannot be read any more; no page is looked for there.
    static func asideName() -> String { "damaged \(IntentID.next())" }

    private static func address(_ name: String) -> StorageAddress { StorageAddress(namespace, name: name) }
}

extension SealingLayer {
    /// The same layer around the value of another address.
    fileprivate func resealing(_ address: StorageAddress) -> SealingLayer {
        SealingLayer(
            keys: keys, envelope: Envelope(address, crypto: envelope.crypto), style: style, limit: limit)
    }
}

extension ResolvedKey {
    /// The same value, as one that another version of the app has made; as the running one's for `nil`.
    func writing(dataVersion: String?) throws(StorageError) -> ResolvedKey {
        guard let dataVersion, var attributes else { return self }
        attributes.appVersion = dataVersion
        return try writing(attributes)
    }

    /// The same value, with another version tag when it is written; `nil` for none.
    package func writing(versionTag: String?) throws(StorageError) -> ResolvedKey {
        guard var attributes, attributes.versionTag != versionTag else { return self }
        attributes.versionTag = versionTag
        return try writing(attributes)
    }

    /// The same value, with other attributes when it is written.
    package func writing(_ attributes: ValueAttributes?) throws(StorageError) -> ResolvedKey {
        ResolvedKey(
            open: open, handle: try store.resolve(address), address: address, layers: layers,
            attributes: attributes, refusal: refusal)
    }
}
