internal import CSecret
internal import LocalDataAPI

/// An attempt to connect, on a thread of its own: parts of it cannot be interrupted, and whoever waits for it has a
/// deadline.
final class Opening: @unchecked Sendable {
    // A cancellable may be used from any thread.
    private let cancellable = g_cancellable_new()
    private let promise = Promise<Result<Link, BusFailure>>()
    private let deadline: Deadline

    private let bus: String

    /// - Parameters:
    ///   - seconds: How long it may take.
    ///   - bus: The address of the bus; empty for the session's.
    init(seconds: Double, bus: String) {
        self.bus = bus
        deadline = Deadline(seconds: seconds)
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

    /// Whether nobody should wait for it any more: it failed, or its time is over.
    var isUseless: Bool {
        switch promise.current {
        case .success: false
        case .failure: true
        case nil: deadline.isOver
        }
    }

    /// Waits until the deadline, or until the attempt's own time is over.
    func wait(until deadline: Deadline) throws(BusFailure) -> Link {
        let end = self.deadline.instant < deadline.instant ? self.deadline : deadline
        if let result = promise.wait(until: end) { return try result.get() }
        if self.deadline.isOver { g_cancellable_cancel(cancellable) }
        throw BusFailure.silent
    }

    fileprivate func run() {
        do throws(BusFailure) {
            guard let address = bus.isEmpty ? BusAddress.current() : bus else { throw BusFailure.noBus }
            promise.keep(.success(try Link(address: address, cancellable: cancellable)))
        } catch { promise.keep(.failure(error)) }
    }
}

/// Connects; at file scope, because C calls it.
private func openLink(context: gpointer?) -> gpointer? {
    guard let context else { return nil }
    Unmanaged<Opening>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
