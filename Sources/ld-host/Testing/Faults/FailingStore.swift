public import LocalDataAPI
internal import Synchronization

/// A store that fails calls: every nth, or on demand.
public final class FailingStore<Base: StorageBackend>: InterposingStore {
    private struct State {
        var error: StorageError?
        var calls: Set<StoreCall> = []
        var period = 1
        var left = Int.max
        var count = 0
    }
    /// The wrapped store.
    public let base: Base
    private let state = Mutex(State())

    /// Wraps a store; no call fails yet.
    public init(_ base: Base) { self.base = base }

    /// Opens the wrapped store; no call fails yet.
    public convenience init(options: ComponentOptions, host: HostServices) throws {
        self.init(try Base(options: options, host: host))
    }

    /// Makes calls fail from now on. A failed call does not reach the wrapped store, so it has no effect.
    ///
    /// - Parameters:
    ///   - error: The error to throw.
    ///   - calls: The calls to fail.
    ///   - every: Fails every nth of these calls, counted from now.
    ///   - times: The number of failures before calls succeed again; `nil` for no limit.
    public func fail(
        with error: StorageError, calls: Set<StoreCall> = Set(StoreCall.allCases), every: Int = 1, times: Int? = nil
    ) {
        state.withLock {
            $0 = State(error: error, calls: calls, period: max(1, every), left: times ?? .max)
        }
    }

    /// Makes calls succeed again.
    public func recover() { state.withLock { $0.error = nil } }

    /// Throws if this call must fail.
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
