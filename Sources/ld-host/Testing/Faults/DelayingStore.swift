internal import Glibc
public import LocalDataAPI

/// A store whose calls take longer: for tests of deadlines, and of what must not wait.
public final class DelayingStore<Base: StorageBackend>: InterposingStore {
    /// The store that does the work.
    public let base: Base
    private let delay: Duration
    private let calls: Set<StoreCall>
    private let latency: StoreProperties.Latency?

    /// Delays a store.
    ///
    /// - Parameters:
    ///   - base: The store that does the work.
    ///   - delay: How long the calling thread is held before each call.
    ///   - calls: Which calls.
    ///   - latency: What the store declares of itself instead, e.g. `.network` for calls that have a deadline.
    public init(
        _ base: Base, by delay: Duration, calls: Set<StoreCall> = Set(StoreCall.allCases),
        declaring latency: StoreProperties.Latency? = nil
    ) {
        self.base = base
        self.delay = delay
        self.calls = calls
        self.latency = latency
    }

    /// Opens the base; nothing is delayed.
    public convenience init(options: ComponentOptions, host: HostServices) throws {
        self.init(try Base(options: options, host: host), by: .zero)
    }

    /// The base's, with the latency that was given.
    public var properties: StoreProperties {
        var properties = base.properties
        properties.latency = latency ?? properties.latency
        return properties
    }

    /// Holds the thread.
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
