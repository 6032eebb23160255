internal import CSecret

/// A prompt that the service shows to a person.
struct Prompt {
    /// How the prompt ended.
    enum Outcome {
        /// With a result, such as the path of a new item.
        case completed(Variant?)
        /// The person, or a machine without a screen, dismissed it.
        case dismissed
        /// Nobody answered in time; we have dismissed it.
        case unanswered
    }

    let link: ServiceLink
    let path: String

    /// Shows the prompt and waits for the answer.
    ///
    /// - Parameters:
    ///   - seconds: The time limit for the person.
    ///   - deadline: When the service must have shown the prompt.
    func ask(seconds: Double, until deadline: BusDeadline) throws(BusFailure) -> Outcome {
        let owner =
            try link.call(
                BusMethod(
                    "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner",
                    .tuple(.string(ServiceLink.serviceName)),
                    answer: "(s)"), of: "org.freedesktop.DBus", until: deadline)[0]?.text ?? ServiceLink.serviceName
        let context = g_main_context_new()
        g_main_context_push_thread_default(context)
        let conversation = Conversation()
        // Subscriptions that end the conversation, and a timer that wakes the loop below.
        let answer = subscribe(conversation, owner, "org.freedesktop.Secret.Prompt", "Completed", path, takeCompletion)
        let loss = subscribe(
            conversation, "org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged", "/org/freedesktop/DBus",
            takeLoss, about: ServiceLink.serviceName)
        let clock = g_timeout_source_new(100)
        g_source_set_callback(clock, keepOn, nil, nil)
        g_source_attach(clock, context)
        defer {
            g_source_destroy(clock)
            g_source_unref(clock)
            g_dbus_connection_signal_unsubscribe(link.connection, answer)
            g_dbus_connection_signal_unsubscribe(link.connection, loss)
            // Releases the subscriptions' references.
            while g_main_context_pending(context) != 0 { g_main_context_iteration(context, 0) }
            g_main_context_pop_thread_default(context)
            g_main_context_unref(context)
        }
        _ = try link.call(
            BusMethod(path, "org.freedesktop.Secret.Prompt", "Prompt", .tuple(.string("")), answer: "()"),
            until: deadline)
        let end = BusDeadline(seconds: seconds)
        while conversation.outcome == nil {
            guard !conversation.isLost, !link.isClosed else { throw BusFailure.gone }
            guard !end.isOver else {
                link.tell(BusMethod(path, "org.freedesktop.Secret.Prompt", "Dismiss", answer: "()"))
                return .unanswered
            }
            g_main_context_iteration(context, 1)
        }
        return conversation.outcome ?? .dismissed
    }

    private func subscribe(
        _ conversation: Conversation, _ sender: String, _ interface: String, _ signal: String, _ path: String,
        _ callback: @escaping GDBusSignalCallback, about argument: String? = nil
    ) -> guint {
        g_dbus_connection_signal_subscribe(
            link.connection, sender, interface, signal, path, argument, G_DBUS_SIGNAL_FLAGS_NONE, callback,
            Unmanaged.passRetained(conversation).toOpaque(), releaseConversation)
    }
}

/// The state of a prompt. Used only by the thread that waits for it.
private final class Conversation {
    var outcome: Prompt.Outcome?
    var isLost = false
}

// C calls these, so they are at file scope.

private func keepOn(context: gpointer?) -> gboolean { 1 }

private func takeCompletion(
    connection: OpaquePointer?, sender: UnsafePointer<CChar>?, path: UnsafePointer<CChar>?,
    interface: UnsafePointer<CChar>?, signal: UnsafePointer<CChar>?, arguments: OpaquePointer?, context: gpointer?
) {
    guard let context, let arguments else { return }
    let conversation = Unmanaged<Conversation>.fromOpaque(context).takeUnretainedValue()
    let answer = Variant(taking: g_variant_ref(arguments))
    conversation.outcome = answer[0]?.boolean == false ? .completed(answer[1]?[0]) : .dismissed
}

private func takeLoss(
    connection: OpaquePointer?, sender: UnsafePointer<CChar>?, path: UnsafePointer<CChar>?,
    interface: UnsafePointer<CChar>?, signal: UnsafePointer<CChar>?, arguments: OpaquePointer?, context: gpointer?
) {
    guard let context else { return }
    Unmanaged<Conversation>.fromOpaque(context).takeUnretainedValue().isLost = true
}

private func releaseConversation(context: gpointer?) {
    if let context { Unmanaged<Conversation>.fromOpaque(context).release() }
}
