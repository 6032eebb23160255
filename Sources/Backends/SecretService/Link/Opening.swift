internal import CSecret
internal import Glibc
internal import LocalDataPluginAPI

/// An attempt to connect and then to open a session, on its own thread: parts of it cannot be interrupted, and its
/// callers have deadlines.
final class Opening: @unchecked Sendable {
    // A cancellable may be used from any thread.
    private let cancellable = g_cancellable_new()
    private let promise = Promise<Result<ServiceLink, BusFailure>>()
    private let deadline: BusDeadline

    private let bus: String

    /// - Parameters:
    ///   - seconds: The time limit for connecting.
    ///   - bus: The address of the bus; empty for the session bus.
    init(seconds: Double, bus: String) {
        self.bus = bus
        deadline = BusDeadline(seconds: seconds)
        let me = Unmanaged.passRetained(self)
        var error: UnsafeMutablePointer<GError>?
        guard let thread = g_thread_try_new("secret-service", openLink, me.toOpaque(), &error) else {
            me.release()
            promise.keep(.failure(BusFailure(taking: error)))
            return
        }
        g_thread_unref(thread)
    }

    deinit { g_object_unref(cancellable) }

    /// Whether waiting for it is pointless: it failed, or its time is up.
    var isUseless: Bool {
        switch promise.current {
        case .success: false
        case .failure: true
        case nil: deadline.isOver
        }
    }

    /// Waits until the deadline, or until the attempt's own time is up.
    func wait(until deadline: BusDeadline) throws(BusFailure) -> ServiceLink {
        let end = self.deadline.instant < deadline.instant ? self.deadline : deadline
        if let result = promise.wait(until: end) { return try result.get() }
        if self.deadline.isOver { g_cancellable_cancel(cancellable) }
        throw BusFailure.silent
    }

    fileprivate func run() {
        do throws(BusFailure) {
            guard let address = bus.isEmpty ? BusAddress.current() : bus else { throw BusFailure.noBus }
            let link = try ServiceLink(address: address, cancellable: cancellable, until: deadline)
            promise.keep(.success(link))
            link.openSession()
        } catch { promise.keep(.failure(error)) }
    }
}

/// Connects; at file scope, because C calls it.
private func openLink(context: gpointer?) -> gpointer? {
    guard let context else { return nil }
    Unmanaged<Opening>.fromOpaque(context).takeRetainedValue().run()
    return nil
}

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
