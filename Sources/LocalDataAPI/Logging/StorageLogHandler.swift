/// Receives the library's log messages. An app supplies its own handler to join its logging; components reach the same
/// one through ``HostServices``.
///
/// Messages contain names of keys, stores and files, never a value. The library calls `log` from any thread. `log` must
/// not wait and must not call the library.
public protocol StorageLogHandler: Sendable {
    /// The lowest level that is logged; messages below it are not even built.
    var level: StorageLogLevel { get }
    /// Receives one message. `label` is its origin, e.g. `router` or a component's id.
    func log(_ level: StorageLogLevel, label: String, _ message: String)
}

extension StorageLogHandler {
    /// Builds and logs a message if its level is logged.
    public func callAsFunction(_ level: StorageLogLevel, _ label: String, _ message: @autoclosure () -> String) {
        if level >= self.level { log(level, label: label, message()) }
    }
}

/// A log that discards every message.
public struct SilentLog: StorageLogHandler {
    /// The highest level; messages at this level are discarded too.
    public let level = StorageLogLevel.error

    /// Creates the log.
    public init() {}

    /// Drops the message.
    public func log(_ level: StorageLogLevel, label: String, _ message: String) {}
}

/// The severity of a message.
public enum StorageLogLevel: Int32, Comparable, CaseIterable, Hashable, Sendable {
    /// What the library does, step by step.
    case debug = 0
    /// What an operator may want to know.
    case info = 1
    /// Something that may need attention.
    case warning = 2
    /// A failure that no caller learns of otherwise.
    case error = 3

    /// Orders by severity.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
