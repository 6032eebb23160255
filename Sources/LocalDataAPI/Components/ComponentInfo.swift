/// A component's id in configurations, a one-line summary, and its options.
public struct ComponentInfo: Sendable {
    /// Lower case letters, digits, `-` and `.`, at most 64 bytes: `file`, or in reverse DNS `org.example.cloud`.
    public let id: String
    /// One line for people.
    public let summary: String
    /// The options that the component accepts; the host refuses any other.
    public let options: [ComponentOption]

    /// Describes a component.
    public init(id: String, summary: String, options: [ComponentOption] = []) {
        self.id = id
        self.summary = summary
        self.options = options
    }
}

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

/// What the host offers a component.
public struct HostServices: Sendable {
    /// The host's name, e.g. `ld-host`.
    public let name: String
    /// The host's version.
    public let version: String
    /// The host's log, or one that discards messages if the host has none.
    public let log: any StorageLogHandler

    /// Describes a host.
    public init(name: String, version: String, log: any StorageLogHandler = SilentLog()) {
        self.name = name
        self.version = version
        self.log = log
    }
}
