/// A log that discards every message.
public struct SilentLog: StorageLogHandler {
    /// The highest level; messages at this level are discarded too.
    public let level = StorageLogLevel.error

    /// Creates the log.
    public init() {}

    /// Drops the message.
    public func log(_ level: StorageLogLevel, label: String, _ message: String) {}
}
