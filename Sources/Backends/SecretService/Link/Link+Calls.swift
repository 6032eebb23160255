internal import CSecret

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
