internal import CSecret
internal import LocalDataPluginAPI
internal import Synchronization

/// GLib as a library.
enum GLibLibrary {
    private static let classes: GType = {
        ld_secret_load_sockets()
        return ld_secret_service_type()
    }()

    /// Initializes the libraries in a safe order, and sends messages to a log.
    static func prepare(log: any StorageLogHandler) {
        _ = classes
        GLibLog.direct(to: log)
    }
}

/// Sends the messages of GLib and libsecret to the host's log instead of standard error.
enum GLibLog {
    private static let log = Mutex<any StorageLogHandler>(SilentLog())
    private static let domains = ["GLib", "GLib-GObject", "GLib-GIO", "libsecret"]

    /// Sends the messages to a log; the last log set gets them. Warnings do not end the process, whatever `G_DEBUG`
    /// says.
    static func direct(to handler: any StorageLogHandler) {
        let isFirst = log.withLock { log in
            let isFirst = log is SilentLog
            log = handler
            return isFirst
        }
        guard isFirst else { return }
        g_log_set_always_fatal(G_LOG_LEVEL_ERROR)
        let levels = GLogLevelFlags(rawValue: ~G_LOG_FLAG_RECURSION.rawValue)
        for domain in domains { g_log_set_handler(domain, levels, takeMessage, nil) }
    }

    fileprivate static func take(_ level: GLogLevelFlags, _ domain: String, _ message: String) {
        let log = log.withLock { $0 }
        let level: StorageLogLevel =
            switch level.rawValue & (G_LOG_LEVEL_DEBUG.rawValue - 1 | G_LOG_LEVEL_DEBUG.rawValue) {
            case 0..<G_LOG_LEVEL_WARNING.rawValue: .error
            case ..<G_LOG_LEVEL_MESSAGE.rawValue: .warning
            default: .debug
            }
        log(level, "secret-service", "\(domain): \(message)")
    }
}

/// Receives a message from GLib; at file scope, because C calls it.
private func takeMessage(
    domain: UnsafePointer<CChar>?, level: GLogLevelFlags, message: UnsafePointer<CChar>?, context: gpointer?
) {
    GLibLog.take(level, domain.map { String(cString: $0) } ?? "GLib", message.map { String(cString: $0) } ?? "")
}
