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
