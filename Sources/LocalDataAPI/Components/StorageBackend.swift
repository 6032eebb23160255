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

/// What a store promises beyond the contract of ``StorageBackend``; the host and the conformance kit rely on it.
public struct StoreProperties: Hashable, Sendable {
    /// How long a call may take. It decides which thread makes the call.
    public enum Latency: UInt32, CaseIterable, Hashable, Sendable {
        /// Never waits: the host makes every call inline.
        case memory = 0
        /// `get` and `exists` read local files and never wait for a lock; other calls may wait for the disk.
        case disk = 1
        /// Every call may wait for the network; calls have a deadline.
        case network = 2
        /// Every call may wait for a person; calls have a deadline.
        case interactive = 3
    }

    /// How long a call may take.
    public var latency: Latency
    /// Whether `set` and `remove`, once they return, survive a power loss.
    public var isDurable: Bool
    /// Whether other processes with the same options see the same values, safely.
    public var isShared: Bool
    /// Whether the store itself protects its values, so that the keychain domain may use it without sealing.
    public var isKeychain: Bool
    /// Whether each folder that a namespace names is a database of its own. Then no batch, transaction or bulk change
    /// spans two folders, nor a folder and a namespace without one.
    public var keepsFoldersApart: Bool
    /// The conditions that a keychain enforces before it releases a value.
    public var enforcedAccessibilities: Set<KeychainAccessibility>
    /// What a keychain requires a person to do before it releases a value.
    public var enforcedAccessControls: Set<KeychainAccessControl>
    /// The largest value in bytes, or `nil` if the store has no limit.
    public var largestValue: UInt64?

    /// Describes a store; what is left out has the default of its property.
    public init(
        latency: Latency, isDurable: Bool, isShared: Bool, isKeychain: Bool = false, keepsFoldersApart: Bool = false,
        enforcedAccessibilities: Set<KeychainAccessibility> = [],
        enforcedAccessControls: Set<KeychainAccessControl> = [], largestValue: UInt64? = nil
    ) {
        self.latency = latency
        self.isDurable = isDurable
        self.isShared = isShared
        self.isKeychain = isKeychain
        self.keepsFoldersApart = keepsFoldersApart
        self.enforcedAccessibilities = enforcedAccessibilities
        self.enforcedAccessControls = enforcedAccessControls
        self.largestValue = largestValue
    }
}
