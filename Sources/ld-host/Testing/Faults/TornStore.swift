internal import Glibc
public import LocalDataAPI
internal import Synchronization

/// A store that breaks its promise of whole values: on demand it stores the first half of a value and fails. For tests
/// that a store's users notice it.
public final class TornStore<Base: StorageBackend>: InterposingStore {
    /// The wrapped store.
    public let base: Base
    private let left = Mutex((count: 0, error: StorageError?.none))

    /// Wraps a store; no write is torn yet.
    public init(_ base: Base) { self.base = base }

    /// Opens the wrapped store; no write is torn yet.
    public convenience init(options: ComponentOptions, host: HostServices) throws {
        self.init(try Base(options: options, host: host))
    }

    /// Tears the next values that are set.
    ///
    /// - Parameters:
    ///   - times: How many values.
    ///   - error: The error to throw after half of the value is stored; `nil` to report success.
    public func tear(_ times: Int = 1, error: StorageError? = StorageError(.fileError, "the write broke off")) {
        left.withLock { $0 = (times, error) }
    }

    /// Does nothing.
    public func willCall(_ call: StoreCall) {}

    /// Stores the value, or half of it.
    public func set(_ key: Base.Key, to value: RawSpan, attributes: ValueAttributes?) throws {
        let (isTorn, error) = left.withLock { left in
            guard left.count > 0 else { return (false, StorageError?.none) }
            left.count -= 1
            return (true, left.error)
        }
        guard isTorn else { return try base.set(key, to: value, attributes: attributes) }
        try base.set(key, to: value.extracting(first: value.byteCount / 2), attributes: attributes)
        if let error { throw error }
    }
}

extension TornStore: EnumerableBackend where Base: EnumerableBackend {}
extension TornStore: AttributedBackend where Base: AttributedBackend {}

/// A store that delays its calls: for tests of deadlines, and of callers that must not wait.
public final class DelayingStore<Base: StorageBackend>: InterposingStore {
    /// The wrapped store.
    public let base: Base
    private let delay: Duration
    private let calls: Set<StoreCall>
    private let latency: StoreProperties.Latency?

    /// Delays a store.
    ///
    /// - Parameters:
    ///   - base: The wrapped store.
    ///   - delay: How long each call blocks its thread first.
    ///   - calls: The calls to delay.
    ///   - latency: The latency that the store declares instead, e.g. `.network` for calls with a deadline.
    public init(
        _ base: Base, by delay: Duration, calls: Set<StoreCall> = Set(StoreCall.allCases),
        declaring latency: StoreProperties.Latency? = nil
    ) {
        self.base = base
        self.delay = delay
        self.calls = calls
        self.latency = latency
    }

    /// Opens the wrapped store without a delay.
    public convenience init(options: ComponentOptions, host: HostServices) throws {
        self.init(try Base(options: options, host: host), by: .zero)
    }

    /// The wrapped store's properties, with the given latency.
    public var properties: StoreProperties {
        var properties = base.properties
        properties.latency = latency ?? properties.latency
        return properties
    }

    /// Blocks the thread.
    public func willCall(_ call: StoreCall) {
        guard calls.contains(call) else { return }
        let (seconds, attoseconds) = delay.components
        var left = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        var rest = timespec()
        while nanosleep(&left, &rest) != 0 && errno == EINTR { left = rest }
    }
}

extension DelayingStore: EnumerableBackend where Base: EnumerableBackend {}
extension DelayingStore: AttributedBackend where Base: AttributedBackend {}
extension DelayingStore: StreamingBackend where Base: StreamingBackend {}
extension DelayingStore: BatchBackend where Base: BatchBackend {}
extension DelayingStore: BulkBackend where Base: BulkBackend {}
