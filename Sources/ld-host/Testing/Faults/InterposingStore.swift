internal import FoundationEssentials
public import LocalDataAPI

/// A store around another one: says what happens before each call, and passes the rest on.
///
/// Abilities are passed on by conforming, with nothing to write: `extension MyStore: EnumerableBackend where Base:
/// EnumerableBackend {}`.
public protocol InterposingStore: StorageBackend where Key == Base.Key {
    /// The store that does the work.
    associatedtype Base: StorageBackend
    /// The store that does the work.
    var base: Base { get }
    /// Called before each call; what it throws is thrown in the place of the call.
    func willCall(_ call: StoreCall) throws
}

extension InterposingStore {
    /// The base's.
    public static var component: ComponentInfo { Base.component }
    /// The base's.
    public var properties: StoreProperties { base.properties }
    /// Asks the base.
    public func resolve(_ address: StorageAddress) throws -> Base.Key { try base.resolve(address) }

    /// Asks the base.
    public func get(_ key: Base.Key, _ deliver: (RawSpan) -> Void) throws -> Bool {
        try willCall(.get)
        return try base.get(key, deliver)
    }

    /// Asks the base.
    public func exists(_ key: Base.Key) throws -> Bool {
        try willCall(.exists)
        return try base.exists(key)
    }

    /// Asks the base.
    public func set(_ key: Base.Key, to value: RawSpan, attributes: ValueAttributes?) throws {
        try willCall(.set)
        try base.set(key, to: value, attributes: attributes)
    }

    /// Asks the base.
    public func remove(_ key: Base.Key) throws -> Bool {
        try willCall(.remove)
        return try base.remove(key)
    }
}

extension InterposingStore where Base: EnumerableBackend {
    /// Asks the base.
    public func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
    ) throws {
        try willCall(.enumerate)
        try base.forEachName(in: place, prefix: prefix, after: after, limit: limit, body)
    }

    /// Asks the base.
    public func forEachPlace(_ body: (StorageNamespace) -> Bool) throws {
        try willCall(.enumerate)
        try base.forEachPlace(body)
    }
}

extension InterposingStore where Base: AttributedBackend {
    /// Asks the base.
    public func attributes(of key: Base.Key) throws -> ValueAttributes? {
        try willCall(.attributes)
        return try base.attributes(of: key)
    }
}

extension InterposingStore where Base: StreamingBackend {
    /// Asks the base.
    public func read(_ key: Base.Key, _ body: (RawSpan) -> Bool) throws -> Bool {
        try willCall(.get)
        return try base.read(key, body)
    }

    /// Asks the base.
    public func write(
        _ key: Base.Key, attributes: ValueAttributes?, from source: ((RawSpan) throws -> Void) throws -> Void
    ) throws {
        try willCall(.set)
        try base.write(key, attributes: attributes, from: source)
    }
}

extension InterposingStore where Base: BatchBackend {
    /// Asks the base.
    public func apply(_ changes: [StorageChange<Base.Key>]) throws {
        try willCall(.set)
        try base.apply(changes)
    }
}

extension InterposingStore where Base: BulkBackend {
    /// Asks the base.
    public func forEachValue(
        in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: BulkBackend.Taker
    ) throws {
        try willCall(.get)
        try base.forEachValue(in: place, prefix: prefix, after: after, largest: largest, body)
    }

    /// Asks the base.
    public func apply(_ changes: BulkChanges) throws -> [Int] {
        try willCall(.set)
        return try base.apply(changes)
    }
}
