package import LocalDataAPI

/// An address, with what its item is found and made by.
package struct SecretKey: Sendable {
    package let address: StorageAddress
    /// What an item has to have to be this one.
    let attributes: [String: String]
    /// What people see of an item that we make.
    let label: String

    init(_ address: StorageAddress) throws(StorageError) {
        try address.validate()
        self.address = address
        attributes = ItemAttributes.of(address)
        let place = address.place
        let parent = place.domain == "keychain" ? place.scope : "\(place)"
        label = parent.isEmpty ? address.name : "\(address.name) (\(parent))"
    }

    /// The attributes of an item that we make.
    ///
    /// - Parameters:
    ///   - application: Who made it, for those who ask; empty for none.
    ///   - kept: What is kept beside the value.
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
