internal import CSecret

/// Why a D-Bus call has no result.
enum BusFailure: Error {
    /// There is no session bus.
    case noBus
    /// The session bus refuses connections, with GLib's message.
    case unreachable(address: String, reason: String)
    /// No answer in time.
    case silent
    /// The connection to the bus, or the service, was lost after the call was made.
    case gone
    /// The bus or the service returned an error.
    case answered(name: String, message: String)
    /// Anything else, with GLib's message.
    case other(String)

    /// Takes over an error of GLib's.
    init(taking error: UnsafeMutablePointer<GError>?) {
        guard let error else {
            self = .other("no reason given")
            return
        }
        defer { g_error_free(error) }
        if let name = g_dbus_error_get_remote_error(error) {
            defer { g_free(name) }
            g_dbus_error_strip_remote_error(error)
            self.init(name: String(cString: name), message: Self.text(error))
            return
        }
        let code = error.pointee.code
        guard error.pointee.domain == g_io_error_quark() else {
            self = .other(Self.text(error))
            return
        }
        switch UInt32(bitPattern: code) {
        case G_IO_ERROR_TIMED_OUT.rawValue, G_IO_ERROR_CANCELLED.rawValue: self = .silent
        case G_IO_ERROR_CLOSED.rawValue, G_IO_ERROR_BROKEN_PIPE.rawValue, G_IO_ERROR_CONNECTION_CLOSED.rawValue:
            self = .gone
        default: self = .other(Self.text(error))
        }
    }

    /// Why there is no connection to the bus.
    static func unreachable(_ address: String, _ cause: BusFailure) -> BusFailure {
        switch cause {
        case .silent: .silent
        case .other(let reason): .unreachable(address: address, reason: reason)
        case .answered(_, let message): .unreachable(address: address, reason: message)
        case .noBus, .unreachable, .gone: .unreachable(address: address, reason: "the connection was closed")
        }
    }

    private init(name: String, message: String) {
        switch name {
        // The bus reports this for a service that ended without answering.
        case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected": self = .gone
        case "org.freedesktop.DBus.Error.Timeout", "org.freedesktop.DBus.Error.TimedOut": self = .silent
        default: self = .answered(name: name, message: message)
        }
    }

    private static func text(_ error: UnsafeMutablePointer<GError>) -> String {
        error.pointee.message.map { String(cString: $0) } ?? "no reason given"
    }

    /// An object that was found a moment ago is gone.
    static let missingObject = BusFailure.answered(
        name: "org.freedesktop.Secret.Error.NoSuchObject", message: "the item is gone")

    private func isNamed(_ names: String...) -> Bool {
        guard case .answered(let name, _) = self else { return false }
        return names.contains(name)
    }

    /// The called object does not exist.
    var isMissingObject: Bool {
        isNamed(
            "org.freedesktop.DBus.Error.UnknownObject", "org.freedesktop.DBus.Error.UnknownMethod",
            "org.freedesktop.DBus.Error.UnknownInterface", "org.freedesktop.Secret.Error.NoSuchObject")
    }

    /// The called object is locked.
    var isLocked: Bool { isNamed("org.freedesktop.Secret.Error.IsLocked") }

    /// The service does not know our session: its process is not the one that we agreed on keys with.
    var isForgottenSession: Bool { isNamed("org.freedesktop.Secret.Error.NoSession") }

    /// Nobody owns the service's name, and no service could be started.
    var isMissingService: Bool {
        guard case .answered(let name, _) = self else { return false }
        return name == "org.freedesktop.DBus.Error.ServiceUnknown"
            || name == "org.freedesktop.DBus.Error.NameHasNoOwner"
            || name.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
    }
}
