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
