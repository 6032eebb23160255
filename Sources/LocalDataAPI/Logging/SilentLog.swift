/// A log that keeps nothing.
public struct SilentLog: StorageLogHandler {
    /// The highest level, at which nothing happens either.
    public let level = StorageLogLevel.error

    /// Creates the log.
    public init() {}

    /// Drops the message.
    public func log(_ level: StorageLogLevel, label: String, _ message: String) {}
}
