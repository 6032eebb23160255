internal import FoundationEssentials
public import LocalDataAPI

/// A store that wraps another one: it is notified before each call, and passes the call on.
///
/// Pass abilities on with an empty conformance: `extension MyStore: EnumerableBackend where Base: EnumerableBackend
/// {}`.
public protocol InterposingStore: StorageBackend where Key == Base.Key {
    /// The type of the wrapped store.
    associatedtype Base: StorageBackend
    /// The wrapped store.
    var base: Base { get }
    /// Called before each call; an error that it throws replaces the call.
    func willCall(_ call: StoreCall) throws
}

extension InterposingStore {
    /// The wrapped store's component.
    public static var component: ComponentInfo { Base.component }
    /// The wrapped store's properties.
    public var properties: StoreProperties { base.properties }
    /// Calls the wrapped store.
    public func resolve(_ address: StorageAddress) throws -> Base.Key { try base.resolve(address) }

    /// Calls the wrapped store.
    public func get(_ key: Base.Key, _ deliver: (RawSpan) -> Void) throws -> Bool {
        try willCall(.get)
        return try base.get(key, deliver)
    }

    /// Calls the wrapped store.
    public func exists(_ key: Base.Key) throws -> Bool {
        try willCall(.exists)
        return try base.exists(key)
    }

    /// Calls the wrapped store.
    public func set(_ key: Base.Key, to value: RawSpan, attributes: ValueAttributes?) throws {
        try willCall(.set)
        try base.set(key, to: value, attributes: attributes)
    }

    /// Calls the wrapped store.
    public func remove(_ key: Base.Key) throws -> Bool {
        try willCall(.remove)
        return try base.remove(key)
    }
}

extension InterposingStore where Base: EnumerableBackend {
    /// Calls the wrapped store.
    public func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
    ) throws {
        try willCall(.enumerate)
        try base.forEachName(in: place, prefix: prefix, after: after, limit: limit, body)
    }

    /// Calls the wrapped store.
    public func forEachPlace(_ body: (StorageNamespace) -> Bool) throws {
        try willCall(.enumerate)
        try base.forEachPlace(body)
    }
}

extension InterposingStore where Base: AttributedBackend {
    /// Calls the wrapped store.
    public func attributes(of key: Base.Key) throws -> ValueAttributes? {
        try willCall(.attributes)
        return try base.attributes(of: key)
    }
}

extension InterposingStore where Base: StreamingBackend {
    /// Calls the wrapped store.
    public func read(_ key: Base.Key, _ body: (RawSpan) -> Bool) throws -> Bool {
        try willCall(.get)
        return try base.read(key, body)
    }

    /// Calls the wrapped store.
    public func write(
        _ key: Base.Key, attributes: ValueAttributes?, from source: ((RawSpan) throws -> Void) throws -> Void
    ) throws {
        try willCall(.set)
        try base.write(key, attributes: attributes, from: source)
    }
}

extension InterposingStore where Base: BatchBackend {
    /// Calls the wrapped store.
    public func apply(_ changes: [StorageChange<Base.Key>]) throws {
        try willCall(.set)
        try base.apply(changes)
    }
}

extension InterposingStore where Base: BulkBackend {
    /// Calls the wrapped store.
    public func forEachValue(
        in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: BulkBackend.Taker
    ) throws {
        try willCall(.get)
        try base.forEachValue(in: place, prefix: prefix, after: after, largest: largest, body)
    }

    /// Calls the wrapped store.
    public func apply(_ changes: BulkChanges) throws -> [Int] {
        try willCall(.set)
        return try base.apply(changes)
    }
}
