public import FoundationEssentials
internal import LocalDataAPI

/// How far this device's sync has come.
public struct SyncReport: Hashable, Sendable {
    /// Records that did not count, since this device's program started.
    public struct Refused: Hashable, Sendable, Codable {
        /// Sealed by no member of the group, or changed on the way.
        public var forged = 0
        /// Published by devices that never were members.
        public var foreign = 0
        /// Published by devices that are no members any more.
        public var former = 0
        /// Older than what the same device had published before.
        public var replayed = 0
        /// Sealed under keys that a device which was removed knows.
        public var outdated = 0
    }

    /// A key that does not take part until its value can be read.
    public struct LeftOut: Hashable, Sendable, Codable {
        /// The key's address.
        public var address: String
        /// Why the value cannot be read, or not be brought to where the key is now.
        public var reason: String
    }

    /// This device's id: 32 hexadecimal digits.
    public var device: String
    /// The number of devices in the group, this one included.
    public var members: Int
    /// The number of keys that take part.
    public var keys: Int
    /// Whether the device is new in its group and still takes over what the group has. It publishes nothing yet.
    public var isJoining: Bool
    /// Whether everything is here that the other devices say they have published.
    public var isComplete: Bool
    /// The names of the devices whose records are not all here, the longest in the group first. A device that joins
    /// needs all of them.
    public var awaited: [String]
    /// The number of changes that are not published yet.
    public var pending: Int
    /// The addresses of values that are too large to be published.
    public var tooLarge: [String]
    /// The addresses of values of which another device has published what this device's software cannot read. It is
    /// kept aside until it can, and the device's own value is not published.
    public var keptAside: [String]
    /// The keys that do not take part, since their values cannot be read here. The others do.
    public var leftOut: [LeftOut]
    /// The number of removals that wait for consent, since they are so many: see
    /// ``StorageRouter/SyncGroupManagement/acceptRemovals()``; 0 if none do.
    public var removalsToAccept: Int
    /// The addresses of values that other devices have changed, in order: those of the call that reports.
    public var changed: [String]
    /// The number of values that lost against another version and were kept: those of the call that reports.
    public var conflicts: Int
    /// What was refused.
    public var refused: Refused
    /// When this device last read what the transport had; `nil` if that is not known. What others have published since
    /// is in no report.
    public var lastSync: Date?
}
