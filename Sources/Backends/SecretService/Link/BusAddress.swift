internal import CSecret
internal import Glibc

/// The address of the session bus.
enum BusAddress {
    /// The address in `DBUS_SESSION_BUS_ADDRESS`, or else that of the socket where systemd and others put a user's bus;
    /// `nil` if there is neither. Looked up at every connection. Never starts a bus.
    static func current() -> String? {
        if let address = variable("DBUS_SESSION_BUS_ADDRESS") { return address }
        guard let folder = variable("XDG_RUNTIME_DIR"), access("\(folder)/bus", F_OK) == 0 else { return nil }
        guard let path = g_dbus_address_escape_value("\(folder)/bus") else { return nil }
        defer { g_free(path) }
        return "unix:path=\(String(cString: path))"
    }

    /// An environment variable; `nil` in a program with more rights than its user.
    private static func variable(_ name: String) -> String? {
        guard let value = secure_getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
        return value
    }
}
