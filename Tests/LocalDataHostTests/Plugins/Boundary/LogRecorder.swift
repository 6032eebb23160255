import LocalDataAPI
import Synchronization

/// A log that keeps its lines.
final class LogRecorder: StorageLogHandler {
    let level = StorageLogLevel.debug
    private let kept = Mutex<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    func log(_ level: StorageLogLevel, label: String, _ message: String) {
        kept.withLock { $0.append("\(level) \(label): \(message)") }
    }
}
