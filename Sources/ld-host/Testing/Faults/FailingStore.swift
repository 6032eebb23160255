public import LocalDataAPI
internal import Synchronization

/// A store whose calls fail: every nth, or on demand.
public final class FailingStore<Base: StorageBackend>: InterposingStore {
    private struct State {
        var error: StorageError?
        var calls: Set<StoreCall> = []
        var period = 1
        var left = Int.max
        var count = 0
    }
    /// The store that does the work.
    public let base: Base
    private let state = Mutex(State())

    /// Wraps a store; nothing fails yet.
    public init(_ base: Base) { self.base = base }

    /// Opens the base; nothing fails yet.
    public convenience init(options: ComponentOptions, host: HostServices) throws {
        self.init(try Base(options: options, host: host))
    }

    /// Makes calls fail from now on. The base is not asked, so a failed call has no effect.
    ///
    /// - Parameters:
    ///   - error: What is thrown.
    ///   - calls: Which calls.
    ///   - every: Every how many of these calls, beginning with that many from now.
    ///   - times: How many failures there are before calls succeed again; `nil` for no end.
    public func fail(
        with error: StorageError, calls: Set<StoreCall> = Set(StoreCall.allCases), every: Int = 1, times: Int? = nil
    ) {
        state.withLock {
            $0 = State(error: error, calls: calls, period: max(1, every), left: times ?? .max)
        }
    }

    /// Lets calls succeed again.
    public func recover() { state.withLock { $0.error = nil } }

    /// Throws if it is this call's turn.
    public func willCall(_ call: StoreCall) throws {
        let error: StorageError? = state.withLock { state in
            guard let error = state.error, state.left > 0, state.calls.contains(call) else { return nil }
            state.count += 1
            guard state.count % state.period == 0 else { return nil }
            state.left -= 1
            return error
        }
        if let error { throw error }
    }
}

extension FailingStore: EnumerableBackend where Base: EnumerableBackend {}
extension FailingStore: AttributedBackend where Base: AttributedBackend {}
extension FailingStore: StreamingBackend where Base: StreamingBackend {}
extension FailingStore: BatchBackend where Base: BatchBackend {}
extension FailingStore: BulkBackend where Base: BulkBackend {}
