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
