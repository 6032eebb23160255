internal import FoundationEssentials
internal import LocalDataPluginAPI

/// The attributes that identify an item: lookups compare them byte for byte, and they are not secret.
///
/// The keychain uses the attribute names that `secret-tool`, libsecret and Python's keyring share: `service` is the
/// scope and `username` the name. So `keychain:service/username` is the address of an item, whichever program created
/// it. Other domains have their own attributes, which nobody mistakes for a login.
enum ItemAttributes {
    static let service = "service"
    static let username = "username"
    static let application = "application"
    static let schema = "xdg:schema"
    static let domain = "localdata:domain"
    static let scope = "localdata:scope"
    static let name = "localdata:name"
    /// The value's attributes; every item that we created has it.
    static let kept = "localdata:attributes"

    /// What items have that we created in the default collection, so that they are known when another one becomes the
    /// default one.
    static let ofDefault = ["localdata:collection": "default"]

    /// The schema that libsecret assumes for a password without one.
    static let genericSchema = "org.freedesktop.Secret.Generic"
    static let ownSchema = "org.localdata.Value"

    /// The attributes of all items in a namespace.
    static func of(_ place: StorageNamespace) -> [String: String] {
        place.domain == "keychain" ? [service: place.scope] : [domain: place.domain, scope: place.scope]
    }

    /// The attributes of the items at an address.
    static func of(_ address: StorageAddress) -> [String: String] {
        var attributes = of(address.place)
        attributes[address.place.domain == "keychain" ? username : name] = address.name
        return attributes
    }

    /// The address of an item, if a key can have it.
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

/// A value's attributes in one attribute of its item: JSON with sorted keys, so that equal attributes are equal texts.
/// The service cannot let a value expire, so that is no part of it.
enum ItemAttributesText {
    /// The text for attributes; `{}` if nothing is known.
    static func text(_ attributes: ValueAttributes?) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(lasting(attributes ?? ValueAttributes())), as: UTF8.self)
    }

    /// The attributes in a text; unknown ones if it is missing or not decodable.
    static func attributes(_ text: String?) -> ValueAttributes {
        guard let text, let kept = try? JSONDecoder().decode(ValueAttributes.self, from: Data(text.utf8)) else {
            return ValueAttributes()
        }
        return lasting(kept)
    }

    private static func lasting(_ attributes: ValueAttributes) -> ValueAttributes {
        var kept = attributes.kept
        kept.expires = nil
        return kept
    }
}
