internal import CSecret

/// A session of a secret service: the keys that it has agreed on with us.
final class SecretSession: @unchecked Sendable {
    // GLib's service is safe to use from any thread; nothing here changes.
    private let service: UnsafeMutablePointer<CSecret.SecretService>
    /// The path of the session, which identifies the keys.
    let path: String

    /// Opens a session; waits until `cancellable` is cancelled.
    init(on connection: OpaquePointer, cancellable: UnsafeMutablePointer<GCancellable>?) throws(BusFailure) {
        var error: UnsafeMutablePointer<GError>?
        guard let service = ld_secret_service(connection, cancellable, &error) else { throw BusFailure(taking: error) }
        guard secret_service_ensure_session_sync(service, cancellable, &error) != 0,
            let path = secret_service_get_session_dbus_path(service)
        else {
            g_object_unref(service)
            throw BusFailure(taking: error)
        }
        self.service = service
        self.path = String(cString: path)
    }

    deinit { g_object_unref(service) }

    /// A secret as it crosses the bus. `line` is copied into memory that is cleared when it is freed.
    func sealed(_ line: UnsafeRawBufferPointer) -> Variant? {
        // The content is always text, and some clients accept nothing else. libsecret needs an address even for zero
        // bytes.
        let value =
            if line.isEmpty {
                secret_value_new("", 0, "text/plain")
            } else {
                secret_value_new(line.assumingMemoryBound(to: CChar.self).baseAddress, gssize(line.count), "text/plain")
            }
        guard let value else { return nil }
        defer { secret_value_unref(gpointer(value)) }
        return secret_service_encode_dbus_secret(service, value).map { Variant(taking: $0) }
    }

    /// Opens a secret that crossed the bus and lends it; `nil` if it does not belong to the session.
    func opened<Result>(_ secret: Variant, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result? {
        guard let value = secret_service_decode_dbus_secret(service, secret.pointer) else { return nil }
        defer { secret_value_unref(gpointer(value)) }
        var count: gsize = 0
        let bytes = secret_value_get(value, &count)
        return try body(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    }
}
