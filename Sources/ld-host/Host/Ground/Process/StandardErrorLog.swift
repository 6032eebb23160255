internal import FoundationEssentials
internal import Glibc
public import LocalDataAPI

/// A log that writes one line per message to standard error: `warning router: ...`. Line breaks and control characters
/// in label and message are escaped.
public struct StandardErrorLog: StorageLogHandler {
    /// The lowest level that is logged.
    public let level: StorageLogLevel

    /// Creates the log.
    public init(level: StorageLogLevel) { self.level = level }

    /// Writes the line in one call, so that lines of several threads do not mix.
    public func log(_ level: StorageLogLevel, label: String, _ message: String) {
        guard level >= self.level else { return }
        let line = Array(
            "\(level) \(PrintableText.escaped(label)): \(PrintableText.escaped(message))\n".utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
