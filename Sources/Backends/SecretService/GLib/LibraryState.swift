internal import CSecret
internal import LocalDataAPI

/// GLib as a library.
enum LibraryState {
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
