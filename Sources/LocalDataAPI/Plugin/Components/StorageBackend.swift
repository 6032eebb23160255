/// Keeps values under addresses. This is the protocol that a storage plugin implements.
///
/// An implementation upholds, and the conformance kit tests:
///
/// - **Bytes.** Values are 0 bytes up to `properties.largestValue`, any bytes, and come back exactly. An empty value is
///   stored and is not the same as none. Names are any UTF-8 without NUL, 1 to 1,024 bytes; two names are the same only
///   if their bytes are, so upper and lower case, `..`, `/` and the two spellings of an accented letter are kept apart.
/// - **Whole values.** A reader sees one complete value, the old one or the new, never a mixture and never nothing
///   while a value is replaced. A `set` that throws leaves the old value (`durabilityUnknown`: the new one is in place;
///   `timedOut`: either).
/// - **Order.** After `set` or `remove` returned, every thread reads that state or a later one.
/// - **Durability.** If `properties.isDurable`, then a completed change survives a power loss.
/// - **Threads.** Every method is called from many threads at once, on threads of the host's choosing. Nothing is held
///   over a call of `deliver`.
/// - **Waiting.** Methods are synchronous: they return when they are done. What may wait follows from
///   `properties.latency`; a backend never makes work of its own for Swift's cooperative pool.
/// - **Errors.** Failures are `StorageError`s that name the object; anything else that is thrown reaches the app as
///   `StorageError.unknown` with its description. No value ever appears in an error or a log.
///
/// A complete backend:
///
/// ```swift
/// final class Dictionary: StorageBackend {
///     static let component = ComponentInfo(id: "dictionary", summary: "keeps values in a dictionary")
///     let properties = StoreProperties(latency: .memory, isDurable: false, isShared: false)
///     private let values = Mutex<[StorageAddress: Data]>([:])
///     init(options: ComponentOptions, host: HostServices) {}
///     func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) -> Bool { ... }
///     func exists(_ key: StorageAddress) -> Bool { ... }
///     func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) { ... }
///     func remove(_ key: StorageAddress) -> Bool { ... }
/// }
/// ```
public protocol StorageBackend: Sendable {
    /// What an address resolves to, once, before it is used many times. A backend without such a step leaves it at
    /// `StorageAddress`.
    associatedtype Key: Sendable = StorageAddress

    /// How the component presents itself.
    static var component: ComponentInfo { get }

    /// Opens a store. Called once per configured store; may wait. Throws `invalidOptions` for options that contradict
    /// each other, `storeUnavailable` if the store cannot be reached.
    init(options: ComponentOptions, host: HostServices) throws

    /// What the store promises; constant while the store is open.
    var properties: StoreProperties { get }

    /// Resolves an address whose parts are within their limits. Does not check whether a value exists; never waits.
    func resolve(_ address: StorageAddress) throws -> Key

    /// Passes the whole value to `deliver`, exactly once, and returns `true`; returns `false` if there is no value. The
    /// bytes are borrowed for that call.
    func get(_ key: Key, _ deliver: (RawSpan) -> Void) throws -> Bool

    /// Whether a value is stored, even an empty one.
    func exists(_ key: Key) throws -> Bool

    /// Stores a value, replacing the old one. `value` is borrowed. A backend that keeps attributes
    /// (``AttributedBackend``) replaces the old ones; others ignore them.
    func set(_ key: Key, to value: RawSpan, attributes: ValueAttributes?) throws

    /// Removes the value; returns `false` if there was none.
    func remove(_ key: Key) throws -> Bool
}

extension StorageBackend where Key == StorageAddress {
    /// Uses the address as it is.
    public func resolve(_ address: StorageAddress) -> StorageAddress { address }
}
