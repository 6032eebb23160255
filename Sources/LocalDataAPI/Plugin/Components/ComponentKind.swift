/// What a component does for the host; the numbers are those of the C header.
public enum ComponentKind: Int32, Codable, CaseIterable, Hashable, Sendable, CustomStringConvertible {
    /// Keeps values: ``StorageBackend``.
    case storage = 1
    /// Seals and opens: ``CryptoProvider``.
    case crypto = 2
    /// Carries sealed changes between devices: ``SyncTransport``.
    case sync = 3
    /// Brings migrations: ``MigrationPack``.
    case migration = 4

    /// The kind's name.
    public var description: String {
        switch self {
        case .storage: "storage"
        case .crypto: "crypto"
        case .sync: "sync"
        case .migration: "migration"
        }
    }
}
