internal import LocalDataAPI

/// The attributes of an item, by which it is found: lookups compare them byte for byte, and they are not secret.
///
/// The keychain uses the names that `secret-tool`, libsecret's and Python's users have settled on: `service` is the
/// scope and `username` the name, so whoever made an item, `keychain:service/username` is its address. Other domains
/// have attributes of their own, which nobody takes for a login.
enum ItemAttributes {
    static let service = "service"
    static let username = "username"
    static let application = "application"
    static let schema = "xdg:schema"
    static let domain = "localdata:domain"
    static let scope = "localdata:scope"
    static let name = "localdata:name"
    /// What is kept beside the value; every item that we made has it.
    static let kept = "localdata:attributes"

    /// What libsecret takes for the schema of a password without one.
    static let genericSchema = "org.freedesktop.Secret.Generic"
    static let ownSchema = "org.localdata.Value"

    /// What all items of a place have.
    static func of(_ place: StorageNamespace) -> [String: String] {
        place.domain == "keychain" ? [service: place.scope] : [domain: place.domain, scope: place.scope]
    }

    /// What the items of an address have.
    static func of(_ address: StorageAddress) -> [String: String] {
        var attributes = of(address.place)
        attributes[address.place.domain == "keychain" ? username : name] = address.name
        return attributes
    }

    /// The address of an item, if it is one that a key can have.
    static func address(_ attributes: [String: String]) -> StorageAddress? {
        let address: StorageAddress
        if let domain = attributes[domain] {
            guard domain != "keychain", let scope = attributes[scope], let name = attributes[name] else { return nil }
            address = StorageAddress(StorageNamespace(domain: domain, scope: scope), name: name)
        } else {
            guard let service = attributes[service], let username = attributes[username] else { return nil }
            address = StorageAddress(StorageNamespace(domain: "keychain", scope: service), name: username)
        }
        return (try? address.validate()).map { address }
    }
}
