internal import FoundationEssentials
internal import LocalDataAPI

/// One migration in the ledger. It says no value: hashes are of bytes as the stores keep them.
struct LedgerRow: Codable, Sendable {
    /// A value that the migration wrote or removes.
    struct Change: Codable, Sendable {
        /// `domain[:scope]/name`, as the key says it.
        let address: String
        let security: SecurityPolicy
        let serializer: SerializerFormat
        /// The hash of what was there before; `nil` for nothing.
        let before: UInt64?
        /// The hash of what is there since; `nil` for nothing, and as long as that has not been read.
        var after: UInt64?
        /// The name under which what was there is kept.
        var image: String?
        /// Whether it was not removed, because someone had changed it.
        var isLeft: Bool?

        init(_ entry: MigrationTransaction.Entry) {
            let key = entry.key.descriptor
            address = "\(key.domain)/\(key.name)"
            security = key.security
            serializer = key.serializer
            before = entry.mark
        }

        /// The key, without its type.
        var key: AnyStorageKey {
            get throws(StorageError) {
                let parts = try StorageAddress.parts(of: address)
                return AnyStorageKey(
                    StorageKeyDescriptor(
                        name: parts.name ?? "", domain: try StorageDomain(name: parts.domain, scope: parts.scope),
                        security: security, serializer: serializer, owner: "", description: ""))
            }
        }
    }

    let id: String
    let revision: Int
    var state: MigrationRecord.State
    var written: [Change]
    var removed: [Change]
    /// In nanoseconds since 1970 UTC.
    let committed: Int64
    /// In seconds.
    let duration: Double
    let appVersion: String?
    /// When the images go, in nanoseconds since 1970 UTC; `nil` if there are none.
    var expires: Int64?
    /// The pack that the migration came from; `nil` for one of the app's own.
    var pack: MigrationPackIdentity?
    /// How far a migration of many keys is; those have no changes here.
    var bulk: BulkProgress?

    /// Whether its images are kept no longer. Those of many keys go by themselves.
    func isExpired(at now: Int64) -> Bool {
        bulk == nil && state != .published && expires.map { $0 <= now } == true
    }

    var changes: [Change] { written + removed }

    var record: MigrationRecord {
        MigrationRecord(
            id: id, revision: revision, state: state,
            sources: bulk.map { [$0.source] } ?? removed.map(\.address),
            destinations: bulk.map { [$0.destination] } ?? written.map(\.address),
            date: Date(timeIntervalSince1970: Double(committed) / 1e9),
            duration: duration, appVersion: appVersion, pack: pack)
    }
}
