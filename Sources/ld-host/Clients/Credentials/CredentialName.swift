internal import LocalDataAPI
internal import LocalDataHost

/// Bytes that a client calls a credential by, as the text that a key's name or service has to be.
///
/// Text stays as it is, but for `%`, control characters and what the caller adds, each of whose bytes is written `%XX`
/// in upper-case hex. If the bytes are no UTF-8, every one above 127 is written so. Nothing at all is `%`, as a name
/// may not be empty. So two different sequences of bytes never have one name.
package enum CredentialName {
    /// The name of some bytes.
    ///
    /// - Parameter special: More ASCII characters that are written `%XX`.
    package static func encode(_ bytes: some Collection<UInt8>, escaping special: String = "") -> String {
        guard !bytes.isEmpty else { return "%" }
        let isText = String(validating: bytes, as: UTF8.self) != nil
        var result: [UInt8] = []
        for byte in bytes {
            if byte < 0x20 || byte == 0x7F || byte == percent || (byte > 0x7F && !isText) || special.utf8.contains(byte)
            {
                result += [percent, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The bytes of a name. A `%` that no escape follows, as others may have written it, stands for itself.
    package static func decode(_ name: String) -> [UInt8] {
        var rest = Array(name.utf8)[...]
        guard rest.elementsEqual([percent]) == false else { return [] }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == percent, let value = escape(rest.prefix(2)) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    private static func escape(_ pair: ArraySlice<UInt8>) -> UInt8? {
        let values = pair.compactMap { digits.firstIndex(of: $0) }
        return values.count == 2 ? UInt8(values[0] << 4 | values[1]) : nil
    }

    private static let percent = UInt8(ascii: "%")
    private static let digits = Array("0123456789ABCDEF".utf8)
}

/// The keys in the keychain under which clients keep their credentials.
enum CredentialKeys {
    /// The key of a name in a service.
    static func key(_ service: String, _ name: String, owner: String) -> AnyStorageKey {
        let domain = StorageDomain.keychain(service: service)
        return AnyStorageKey(
            StorageKeyDescriptor(
                name: name, domain: domain, security: domain.ownPolicy, serializer: .data, owner: owner,
                description: "a credential that \(owner) stored"))
    }
}
