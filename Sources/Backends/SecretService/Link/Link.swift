internal import CSecret
internal import Synchronization

/// A connection to the session bus with a session in which a secret service has agreed on keys with us. So secrets do
/// not cross the bus in clear unless the service supports nothing else (libsecret: Diffie-Hellman of RFC 2409's second
/// group, AES-128).
///
/// The connection is our own: GLib's shared connection of a process ends the process when the bus ends.
final class Link: @unchecked Sendable {
    // GLib's connection and service are safe to use from any thread; nothing here changes.
    let connection: OpaquePointer
    private let service: UnsafeMutablePointer<CSecret.SecretService>
    /// The path of the session, which identifies the keys.
    let session: String
    /// The paths of collections, by label.
    private let collections = Mutex<[String: String]>([:])

    /// Connects and opens a session; waits until `cancellable` is cancelled.
    init(address: String, cancellable: UnsafeMutablePointer<GCancellable>?) throws(BusFailure) {
        var error: UnsafeMutablePointer<GError>?
        let flags =
            G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
            | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue
        guard
            let connection = g_dbus_connection_new_for_address_sync(
                address, GDBusConnectionFlags(rawValue: flags), nil, cancellable, &error)
        else { throw BusFailure.unreachable(address, BusFailure(taking: error)) }
        guard let service = ld_secret_service(connection, cancellable, &error) else {
            g_object_unref(gpointer(connection))
            throw BusFailure(taking: error)
        }
        guard secret_service_ensure_session_sync(service, cancellable, &error) != 0,
            let session = secret_service_get_session_dbus_path(service)
        else {
            g_object_unref(service)
            g_object_unref(gpointer(connection))
            throw BusFailure(taking: error)
        }
        self.connection = connection
        self.service = service
        self.session = String(cString: session)
    }

    deinit {
        g_object_unref(service)
        g_object_unref(gpointer(connection))
    }

    /// Whether the bus has ended the connection.
    var isClosed: Bool { g_dbus_connection_is_closed(connection) != 0 }

    /// The known path of a collection.
    func path(ofCollection label: String) -> String? { collections.withLock { $0[label] } }

    func keep(_ path: String, ofCollection label: String) { collections.withLock { $0[label] = path } }

    /// Forgets the paths of collections, because one no longer exists.
    func forgetCollections() { collections.withLock { $0 = [:] } }

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

extension Link {
    /// The name that every secret service owns.
    static let serviceName = "org.freedesktop.secrets"

    /// Calls the service and waits for the answer until the deadline.
    func call(_ method: BusMethod, until deadline: Deadline) throws(BusFailure) -> Variant {
        try call(method, of: Self.serviceName, until: deadline)
    }

    /// Calls any name on the bus.
    func call(_ method: BusMethod, of name: String, until deadline: Deadline) throws(BusFailure) -> Variant {
        guard !deadline.isOver else { throw BusFailure.silent }
        var error: UnsafeMutablePointer<GError>?
        let answer = VariantType.with(method.answer) { type in
            g_dbus_connection_call_sync(
                connection, name, method.path, method.interface, method.name, method.arguments?.pointer, type,
                G_DBUS_CALL_FLAGS_NONE, deadline.milliseconds, nil, &error)
        }
        guard let answer else { throw BusFailure(taking: error) }
        return Variant(taking: answer)
    }

    /// Sends a call to the service without waiting for an answer.
    func tell(_ method: BusMethod) {
        g_dbus_connection_call(
            connection, Self.serviceName, method.path, method.interface, method.name, method.arguments?.pointer, nil,
            G_DBUS_CALL_FLAGS_NO_AUTO_START, -1, nil, nil, nil)
    }

    /// Makes many calls, most of them concurrently, and waits for all answers until the deadline.
    func call(all methods: [BusMethod], until deadline: Deadline) -> [Result<Variant, BusFailure>] {
        guard methods.count > 1 else {
            return methods.map { method in
                do throws(BusFailure) { return .success(try call(method, until: deadline)) } catch {
                    return .failure(error)
                }
            }
        }
        let context = g_main_context_new()
        g_main_context_push_thread_default(context)
        let answers = Answers(count: methods.count)
        for (index, method) in methods.enumerated() {
            while answers.underWay >= Self.mostAtOnce { g_main_context_iteration(context, 1) }
            answers.underWay += 1
            VariantType.with(method.answer) { type in
                g_dbus_connection_call(
                    connection, Self.serviceName, method.path, method.interface, method.name,
                    method.arguments?.pointer, type, G_DBUS_CALL_FLAGS_NONE, deadline.milliseconds, nil, takeAnswer,
                    Unmanaged.passRetained(Question(index, answers)).toOpaque())
            }
        }
        // Every call ends at its own deadline.
        while answers.underWay > 0 { g_main_context_iteration(context, 1) }
        g_main_context_pop_thread_default(context)
        g_main_context_unref(context)
        return answers.results
    }

    private static let mostAtOnce = 256
}

/// The answers to many calls. Used only by the thread that waits for them.
private final class Answers {
    var results: [Result<Variant, BusFailure>]
    var underWay = 0

    init(count: Int) { results = Array(repeating: .failure(.silent), count: count) }
}

/// Which answer a call sets.
private final class Question {
    let index: Int
    let answers: Answers

    init(_ index: Int, _ answers: Answers) {
        self.index = index
        self.answers = answers
    }
}

/// Receives an answer; at file scope, because C calls it.
private func takeAnswer(source: UnsafeMutablePointer<GObject>?, result: OpaquePointer?, context: gpointer?) {
    guard let context else { return }
    let question = Unmanaged<Question>.fromOpaque(context).takeRetainedValue()
    var error: UnsafeMutablePointer<GError>?
    let answer = g_dbus_connection_call_finish(source.map { OpaquePointer($0) }, result, &error)
    question.answers.results[question.index] =
        if let answer { .success(Variant(taking: answer)) } else { .failure(BusFailure(taking: error)) }
    question.answers.underWay -= 1
}
