public import FoundationEssentials
internal import HostMigration
internal import HostStores
public import LocalDataAPI

/// A stored value that no version of its key reads, put aside so that nothing overwrites it.
public struct QuarantinedValue: Sendable {
    /// Names it in calls.
    public let id: String
    /// The address of its key.
    public let address: String
    /// The store that keeps it.
    public let store: String
    /// When it was put there.
    public let date: Date
    /// Why no version reads it.
    public let reason: String
    /// What was recorded with it.
    public let attributes: ValueAttributes
    /// In bytes.
    public let size: Int

    /// Values that were put aside, as far as they can be listed.
    public struct List: Sendable {
        /// The values, ordered by store and time.
        public let values: [QuarantinedValue]
        /// Why some stores or records cannot be read.
        public let failures: [StorageError]
    }

    /// A value that was put aside, with its bytes.
    public struct Content: Sendable {
        /// The value.
        public let value: QuarantinedValue
        /// Its bytes, decrypted.
        public let data: Data
    }
}

extension QuarantinedValue {
    init(_ item: Quarantine.Item) {
        self.init(
            id: item.id, address: item.record.key.address, store: item.open.name,
            date: Date(timeIntervalSince1970: Double(item.record.date) / 1e9), reason: item.record.reason,
            attributes: item.record.attributes, size: item.record.size)
    }
}
