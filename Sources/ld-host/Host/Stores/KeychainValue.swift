internal import ByteCoding
internal import FoundationEssentials
package import HostGround
internal import HostPlugins
internal import HostSealing
package import LocalDataAPI

/// A value of the keychain domain, for the host's own keys.
package struct KeychainValue: Sendable {
    /// The list of the host's values in the keychain.
    package let list: RingList
    let service: String
    let account: String
    let value: SealedValue

    /// The bytes, or `nil` if there are none.
    ///
    /// - Parameter kind: What the list must say of the value, unless only the host stores values in the service; `nil`
    ///   for anything.
    /// - Throws: `securityApplicationFailed` if it is not on the list: another program may have stored it before the
    ///   configuration named it, and can open what it seals.
    package func load(_ kind: RingList.Kind?) throws(StorageError) -> SecretBytes? {
        guard var data = try value.get() else { return nil }
        defer { data.resetBytes(in: 0..<data.count) }
        if let kind, service != RingList.ownService, try list.kind(of: service, account) != kind {
            throw StorageError(
                .securityApplicationFailed,
                "the keychain has a value at '\(service)/\(account)' that is not on its list as a \(kind.rawValue): this "
                    + "host did not create it, so it seals and opens nothing",
                hint: "let the configuration name another one; only if you know who created it: "
                    + "ld-host keys adopt SERVICE/ACCOUNT")
        }
        return try data.withBuffer { (bytes) throws(StorageError) in
            // A list that was lost gets back what is known to be the host's. A ring's location need not have a ring.
            if let kind, kind != .ring || (try? KeyRingState(decoding: bytes, of: "")) != nil {
                try? list.add(kind, service, account)
            }
            return try SecretBytes(copying: bytes)
        }
    }

    /// Stores the bytes after adding them to the list.
    package func save(_ bytes: SecretBytes, _ kind: RingList.Kind?) throws(StorageError) {
        if let kind { try list.add(kind, service, account) }
        var data = bytes.withBytes { Data($0) }
        defer { data.resetBytes(in: 0..<data.count) }
        try value.set(data, attributes: nil)
    }

    /// Removes the bytes, and their entry on the list.
    package func remove() throws(StorageError) {
        _ = try value.remove()
        try list.remove(service, account)
    }
}
