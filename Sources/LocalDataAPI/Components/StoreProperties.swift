/// What a store promises beyond the contract of ``StorageBackend``; the host and the conformance kit rely on it.
public struct StoreProperties: Hashable, Sendable {
    /// How long a call may take, which decides the thread that makes it.
    public enum Latency: UInt32, CaseIterable, Hashable, Sendable {
        /// Never waits: every call is made inline.
        case memory = 0
        /// `get` and `exists` read local files and never wait for a lock; the rest may wait for the disk.
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
    /// Whether the store protects what it keeps by itself, so that the keychain domain may use it without sealing.
    public var isKeychain: Bool
    /// Whether each folder of a place that names one is kept by itself, as a database of its own: then no batch,
    /// transaction or bulk change is of two folders, nor of a folder and a place of the store's own choice.
    public var keepsFoldersApart: Bool
    /// Which conditions a keychain enforces: it releases a value only when they hold.
    public var enforcedAccessibilities: Set<KeychainAccessibility>
    /// What a keychain has a person do before it releases a value.
    public var enforcedAccessControls: Set<KeychainAccessControl>
    /// The largest value in bytes, or `nil` for no limit of the store's own.
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
