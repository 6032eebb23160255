internal import Glibc
public import LocalDataAPI

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
