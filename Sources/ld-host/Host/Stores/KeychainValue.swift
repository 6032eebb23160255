internal import FoundationEssentials
internal import LocalDataAPI

/// A value of the keychain domain, for the host's own keys.
struct KeychainValue: Sendable {
    /// The list of the host's values in the keychain.
    let list: RingList
    let service: String
    let account: String
    let value: SealedValue

    /// The bytes, or `nil` if there are none. Adds a found value to the list, since older installations had no list; if
    /// that cannot be written, the value is returned all the same.
    func load(_ kind: RingList.Kind?) throws(StorageError) -> SecretBytes? {
        guard var data = try value.get() else { return nil }
        defer { data.resetBytes(in: 0..<data.count) }
        return try data.withBuffer { (bytes) throws(StorageError) in
            // A value at the configured location of a ring need not be a ring.
            if let kind, kind != .ring || (try? KeyRingState(decoding: bytes, of: "")) != nil {
                try? list.add(kind, service, account)
            }
            return try SecretBytes(copying: bytes)
        }
    }

    /// Stores the bytes after adding them to the list.
    func save(_ bytes: SecretBytes, _ kind: RingList.Kind?) throws(StorageError) {
        if let kind { try list.add(kind, service, account) }
        var data = bytes.withBytes { Data($0) }
        defer { data.resetBytes(in: 0..<data.count) }
        try value.set(data, attributes: nil)
    }

    /// Removes the bytes, and their entry on the list.
    func remove() throws(StorageError) {
        _ = try value.remove()
        try list.remove(service, account)
    }
}
