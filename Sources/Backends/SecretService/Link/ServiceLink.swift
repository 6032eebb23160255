internal import CSecret
internal import Synchronization

/// A connection to the session bus with a session in which a secret service has agreed on keys with us. So secrets do
/// not cross the bus in clear unless the service supports nothing else (libsecret: Diffie-Hellman of RFC 2409's second
/// group, AES-128). Both sides compute on that for milliseconds, so calls that pass no secret need not wait for it.
///
/// The connection is our own: GLib's shared connection of a process ends the process when the bus ends.
final class ServiceLink: @unchecked Sendable {
    // GLib's connection is safe to use from any thread; nothing here changes.
    let connection: OpaquePointer
    private let session = Promise<Result<SecretSession, BusFailure>>()
    /// The end of the time for connecting and for the session.
    private let deadline: BusDeadline
    private let cancellable: UnsafeMutablePointer<GCancellable>?
    /// The paths of collections, by label.
    private let collections = Mutex<[String: String]>([:])

    /// Connects; waits until `cancellable` is cancelled.
    init(
        address: String, cancellable: UnsafeMutablePointer<GCancellable>?, until deadline: BusDeadline
    ) throws(BusFailure) {
        var error: UnsafeMutablePointer<GError>?
        let flags =
            G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
            | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue
        guard
            let connection = g_dbus_connection_new_for_address_sync(
                address, GDBusConnectionFlags(rawValue: flags), nil, cancellable, &error)
        else { throw BusFailure.unreachable(address, BusFailure(taking: error)) }
        self.connection = connection
        self.deadline = deadline
        self.cancellable = cancellable
        g_object_ref(cancellable)
    }

    deinit {
        g_object_unref(cancellable)
        g_object_unref(gpointer(connection))
    }

    /// Opens the session; waits until the link's cancellable is cancelled.
    func openSession() {
        do throws(BusFailure) {
            session.keep(.success(try SecretSession(on: connection, cancellable: cancellable)))
        } catch { session.keep(.failure(error)) }
    }

    /// The session; waits for it until the deadline, or until the link's own time is up.
    func session(until deadline: BusDeadline) throws(BusFailure) -> SecretSession {
        let end = self.deadline.instant < deadline.instant ? self.deadline : deadline
        if let result = session.wait(until: end) { return try result.get() }
        if self.deadline.isOver { g_cancellable_cancel(cancellable) }
        throw BusFailure.silent
    }

    /// Whether its session failed, or its time for that is up.
    var isUseless: Bool {
        switch session.current {
        case .success: false
        case .failure: true
        case nil: deadline.isOver
        }
    }

    /// Whether the bus has ended the connection.
    var isClosed: Bool { g_dbus_connection_is_closed(connection) != 0 }

    /// The known path of a collection.
    func path(ofCollection label: String) -> String? { collections.withLock { $0[label] } }

    func keep(_ path: String, ofCollection label: String) { collections.withLock { $0[label] = path } }

    /// Forgets the paths of collections, because one no longer exists.
    func forgetCollections() { collections.withLock { $0 = [:] } }
}

extension ServiceLink {
    /// The name that every secret service owns.
    static let serviceName = "org.freedesktop.secrets"

    /// Calls the service and waits for the answer until the deadline.
    func call(_ method: BusMethod, until deadline: BusDeadline) throws(BusFailure) -> Variant {
        try call(method, of: Self.serviceName, until: deadline)
    }

    /// Calls any name on the bus.
    func call(_ method: BusMethod, of name: String, until deadline: BusDeadline) throws(BusFailure) -> Variant {
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
    func call(all methods: [BusMethod], until deadline: BusDeadline) -> [Result<Variant, BusFailure>] {
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
