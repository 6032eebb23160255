internal import Glibc
internal import LocalDataPluginAPI
internal import ServerAccess
internal import Synchronization

/// A thread that has the server deliver the headers of new messages, and begins again when that ends.
final class StreamWatchThread: @unchecked Sendable {
    private let links: Links
    private let names: BucketNames
    private let tell: @Sendable (SyncNotice) -> Void
    private let state = Mutex(State())
    // Used before the thread starts, and then by it only.
    private var delivery: Delivery?

    private struct State {
        var isReachable = true
        var isOver = false
        /// The call that waits, to be ended with the thread.
        var call: LinkCall?
    }

    /// How often the server says that it is there, in seconds.
    static let heartbeat = 5.0

    /// - Parameter tell: Gets the notices; it may wait for a subscriber.
    init(_ links: Links, _ names: BucketNames, _ tell: @escaping @Sendable (SyncNotice) -> Void) {
        (self.links, self.names, self.tell) = (links, names, tell)
    }

    var isReachable: Bool { state.withLock(\.isReachable) }

    /// Asks for new messages on the caller's thread, so that all from now on are noticed, and starts the thread, which
    /// keeps this object until it ends.
    func start() throws(StorageError) {
        do throws(StorageError) { delivery = try begin() } catch {
            guard error.code == .storeUnavailable else { throw error }
            change(isReachable: false)
        }
        let code = DetachedThread.start { self.run() }
        guard code == 0 else {
            throw StorageError(.storeUnavailable, "no thread that watches can be created: error \(code)")
        }
    }

    /// Ends the thread soon, without waiting.
    func end() {
        let call = state.withLock { state in
            state.isOver = true
            return state.call
        }
        call?.fail(StorageError(.cancelled))
    }

    private func run() {
        var pause = 0.25
        while !state.withLock(\.isOver) {
            do throws(StorageError) {
                let delivery = try begin()
                defer { delivery.end() }
                change(isReachable: true)
                pause = 0.25
                while try delivery.next() { tell(.changed) }
            } catch {
                change(isReachable: false)
                wait(pause * Double.random(in: 0.5...1))
                pause = min(pause * 2, 30)
            }
        }
    }

    /// The delivery that was begun before the thread started, or another one.
    private func begin() throws(StorageError) -> Delivery {
        if let delivery = delivery.take() { return delivery }
        return try Delivery(links, names, watched)
    }

    /// Has a call end with the thread.
    private func watched(_ call: LinkCall) {
        let isOver = state.withLock { state in
            state.call = call
            return state.isOver
        }
        if isOver { call.fail(StorageError(.cancelled)) }
    }

    private func wait(_ seconds: Double) {
        let call = LinkCall()
        watched(call)
        _ = try? call.take(until: Deadline(seconds: seconds))
    }

    private func change(isReachable: Bool) {
        let isNew = state.withLock { state in
            defer { state.isReachable = isReachable }
            return state.isReachable != isReachable && !state.isOver
        }
        if isNew { tell(isReachable ? .reachable : .unreachable) }
    }
}
