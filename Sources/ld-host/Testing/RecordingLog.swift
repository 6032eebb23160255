internal import LocalDataAPI
internal import Synchronization

/// Keeps what a component logs, so that it can be searched for what must not be in it.
final class RecordingLog: StorageLogHandler {
    let level = StorageLogLevel.debug
    private let kept = Mutex<[String]>([])

    func log(_ level: StorageLogLevel, label: String, _ message: String) { kept.withLock { $0.append(message) } }

    var messages: [String] { kept.withLock { $0 } }
}
