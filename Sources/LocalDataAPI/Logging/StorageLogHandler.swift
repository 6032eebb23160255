/// Takes the library's log. An app brings its own to join its logging; components reach the same one through
/// ``HostServices``.
///
/// Messages have the names of keys, stores and files, never a value. `log` is called from any thread, must not wait,
/// and must not call the library.
public protocol StorageLogHandler: Sendable {
    /// The least level that is kept; messages below it are not even made.
    var level: StorageLogLevel { get }
    /// Takes one message. `label` says where it comes from, e.g. `router` or a component's id.
    func log(_ level: StorageLogLevel, label: String, _ message: String)
}

extension StorageLogHandler {
    /// Makes and logs a message if its level is kept.
    public func callAsFunction(_ level: StorageLogLevel, _ label: String, _ message: @autoclosure () -> String) {
        if level >= self.level { log(level, label: label, message()) }
    }
}
