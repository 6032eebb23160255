internal import CSecret
internal import LocalDataAPI

/// GLib as a whole.
enum LibraryState {
    private static let classes: GType = {
        ld_secret_load_sockets()
        return ld_secret_service_type()
    }()

    /// Loads what is to be loaded with care, and directs messages to a log.
    static func prepare(log: any StorageLogHandler) {
        _ = classes
        GLibLog.direct(to: log)
    }
}
