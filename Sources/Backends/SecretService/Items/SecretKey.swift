import LocalDataPluginAPI

/// An address, with the attributes and the label of its item.
struct SecretKey: Sendable {
    let address: StorageAddress
    /// The attributes that identify the item.
    let attributes: [String: String]
    /// The label of an item that we create, for people.
    let label: String

    init(_ address: StorageAddress) throws(StorageError) {
        try address.validate()
        self.address = address
        attributes = ItemAttributes.of(address)
        let place = address.place
        let parent = place.domain == "keychain" ? place.scope : "\(place)"
        label = parent.isEmpty ? address.name : "\(address.name) (\(parent))"
    }

    /// The attributes of an item that we create.
    ///
    /// - Parameters:
    ///   - application: The creator's name, for information; empty for none.
    ///   - kept: The value's own attributes.
    func attributes(application: String, kept: String) -> [String: String] {
        var attributes = attributes
        if address.place.domain == "keychain" {
            attributes[ItemAttributes.schema] = ItemAttributes.genericSchema
            if !application.isEmpty { attributes[ItemAttributes.application] = application }
        } else {
            attributes[ItemAttributes.schema] = ItemAttributes.ownSchema
        }
        attributes[ItemAttributes.kept] = kept
        return attributes
    }
}
