public import LocalDataAPI

/// A device of the sync group.
public struct SyncMember: Hashable, Sendable, Codable {
    /// Its id: 32 hexadecimal digits.
    public let id: String
    /// What its owner calls it.
    public let name: String
    /// Its role.
    public let role: DeviceRole
    /// Whether it is this device.
    public let isThis: Bool
    /// When it joined, in milliseconds since 1970 UTC by its own clock.
    public let since: UInt64
    /// Whether it was away for too long: it reads nothing that was published since the others noticed, and has to join
    /// again.
    public let isForgotten: Bool
}
