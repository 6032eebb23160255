internal import CSecret
internal import LocalDataAPI

/// An attempt to connect, on its own thread: parts of it cannot be interrupted, and its callers have deadlines.
final class Opening: @unchecked Sendable {
    // A cancellable may be used from any thread.
    private let cancellable = g_cancellable_new()
    private let promise = Promise<Result<Link, BusFailure>>()
    private let deadline: Deadline

    private let bus: String

    /// - Parameters:
    ///   - seconds: The time limit for connecting.
    ///   - bus: The address of the bus; empty for the session bus.
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

    /// Whether waiting for it is pointless: it failed, or its time is up.
    var isUseless: Bool {
        switch promise.current {
        case .success: false
        case .failure: true
        case nil: deadline.isOver
        }
    }

    /// Waits until the deadline, or until the attempt's own time is up.
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
