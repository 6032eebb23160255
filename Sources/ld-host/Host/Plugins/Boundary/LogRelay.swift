package import LocalDataAPI
internal import Synchronization

/// The log of components that stay open while the app changes its log handler or level: passes what they say to the
/// handler of the present configuration.
package final class LogRelay: StorageLogHandler {
    private let current = Mutex<any StorageLogHandler>(SilentLog())

    package init() {}

    /// The handler that gets the messages.
    package var handler: any StorageLogHandler {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    package var level: StorageLogLevel { handler.level }

    package func log(_ level: StorageLogLevel, label: String, _ message: String) {
        handler.log(level, label: label, message)
    }
}
