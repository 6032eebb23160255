internal import FoundationEssentials
internal import LocalDataAPI

/// A value of the keychain domain, for the host's own keys.
struct KeychainValue: Sendable {
    /// The list of what the host keeps in the keychain.
    let list: RingList
    let service: String
    let account: String
    let value: SealedValue

    /// The bytes, or `nil` if there are none. Lists what is found, since installations made some before there was a
    /// list; where nothing can be written, it opens all the same.
    func load(_ kind: RingList.Kind?) throws(StorageError) -> SecretBytes? {
        guard var data = try value.get() else { return nil }
        defer { data.resetBytes(in: 0..<data.count) }
        return try data.withBuffer { (bytes) throws(StorageError) in
            // What only lies where the configuration looks for a ring is none.
            if let kind, kind != .ring || (try? KeyRingState(decoding: bytes, of: "")) != nil {
                try? list.add(kind, service, account)
            }
            return try SecretBytes(copying: bytes)
        }
    }

    /// Stores the bytes, which are on the list before that.
    func save(_ bytes: SecretBytes, _ kind: RingList.Kind?) throws(StorageError) {
        if let kind { try list.add(kind, service, account) }
        var data = bytes.withBytes { Data($0) }
        defer { data.resetBytes(in: 0..<data.count) }
        try value.set(data, attributes: nil)
    }
}
