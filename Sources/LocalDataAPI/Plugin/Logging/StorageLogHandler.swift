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
