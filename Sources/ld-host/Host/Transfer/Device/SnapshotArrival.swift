internal import ByteCoding
package import FoundationEssentials
internal import HostMigration
package import HostStores
package import LocalDataAPI

/// When the value of a key was written on the device that a snapshot has brought it from. The store only knows when it
/// came, which is later than values that the other device has written meanwhile. It is sealed as the value is.
package struct SnapshotArrival {
    private struct Record: Codable {
        /// The hash of the value, by which the record belongs to it.
        let hash: UInt64
        let written: Int64
        /// When the store wrote it, once that is known.
        var modified: Int64?
    }

    private let place: ResolvedKey

    package init(of key: ResolvedKey) throws(StorageError) {
        place = try LedgerPlace.image("arrival \(StableHash.text(["\(key.address)"]))", of: key, nil)
    }

    /// When the value here was written, on whichever device; `nil` if that is unknown.
    package func time(of data: Data, _ attributes: ValueAttributes) async throws(StorageError) -> Int64? {
        guard let record = try await record(), record.hash == StableHash.of([UInt8](data)),
            record.modified == nil || record.modified == attributes.modified
        else { return attributes.modified }
        return record.written
    }

    /// The change that records a value, to be made together with it.
    package func recording(_ value: SnapshotValue) async throws(StorageError) -> BatchChange {
        try await change(to: Record(hash: StableHash.of([UInt8](value.data)), written: value.time))
    }

    /// The change that adds when the store has written the value.
    package func noting(_ modified: Int64) async throws(StorageError) -> BatchChange? {
        guard var record = try await record() else { return nil }
        record.modified = modified
        return try await change(to: record)
    }

    private func record() async throws(StorageError) -> Record? {
        guard let stored = try await place.stored() else { return nil }
        return try? Serializer<Record>.json.decode(try await place.opened(stored))
    }

    private func change(to record: Record) async throws(StorageError) -> BatchChange {
        let data = try Serializer<Record>.json.encode(record)
        return BatchChange(place, value: try await place.sealedValue(), data: data)
    }
}
