/// How values get to the user's other devices.
public struct SyncConfiguration: Hashable, Sendable {
    /// The size in bytes up to which values of keys with the policy `automaticSmall` are synced; configuration
    /// `sync.maxAutoSyncSize`. Larger values stay on the device, and ``SyncReport/tooLarge`` names them.
    public var maxAutoSyncSize: Int?

    /// Creates a configuration; `nil` keeps the setting of the configuration files.
    public init(maxAutoSyncSize: Int? = nil) { self.maxAutoSyncSize = maxAutoSyncSize }
}
