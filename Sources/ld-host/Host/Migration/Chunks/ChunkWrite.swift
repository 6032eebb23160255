internal import FoundationEssentials
internal import HostStores
internal import LocalDataAPI

/// A value that a chunk writes.
struct ChunkWrite: Sendable {
    let key: ResolvedKey
    let data: Data
    /// The change that keeps the value that it replaces.
    var image: BatchChange?
    /// The change that keeps the hash of a sealed value.
    var witness: BatchChange?

    static func changes(_ writes: [ChunkWrite]) -> [BatchChange] {
        var changes: [BatchChange] = []
        changes.reserveCapacity(writes.count + 2)
        for write in writes {
            if let image = write.image { changes.append(image) }
            changes.append(write.key.changing(to: write.data))
            if let witness = write.witness { changes.append(witness) }
        }
        return changes
    }

    /// Whether the bytes in the store are the value.
    func isEqual(to stored: Data) throws(StorageError) -> Bool { try key.opening(stored) == data }
}

extension LedgerEntry {
    /// Records that a new value does not read back, and returns the error.
    ///
    /// - Parameter rest: The rest of its message.
    mutating func unverified(
        _ address: StorageAddress, _ open: OpenStore, _ rest: String
    ) throws(StorageError) -> MigrationError {
        row.state = .unverified
        try commit()
        return MigrationError(
            .validationFailed, "'\(address)' does not read back from '\(open.name)' as it was written\(rest)")
    }
}

extension ResolvedKey {
    /// Whether the value cannot be read from the store's files without a key.
    var isProtected: Bool { !layers.isEmpty || open.isKeychain }
}
