internal import LocalDataAPI
internal import Synchronization

/// Records a component's log messages, so that a check can search them for secrets.
final class RecordingLog: StorageLogHandler {
    let level = StorageLogLevel.debug
    private let kept = Mutex<[String]>([])

    func log(_ level: StorageLogLevel, label: String, _ message: String) { kept.withLock { $0.append(message) } }

    var messages: [String] { kept.withLock { $0 } }
}
