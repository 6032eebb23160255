/// The devices that may use a key.
public enum PlatformAvailability: String, Codable, CaseIterable, Hashable, Sendable {
    /// Everywhere.
    case all
    /// On phones.
    case phoneOnly
    /// On watches.
    case watchOnly
    /// On phones, and on watches as a synchronized copy.
    case phoneWithWatchSync

    /// Whether a device on this platform may use the key in the role `all`; on Linux only the role distinguishes
    /// devices.
    public func isAvailable(on platform: Platform) -> Bool { isAvailable(on: DeviceRole.all) }

    /// Whether a device with this role may use the key.
    public func isAvailable(on role: DeviceRole) -> Bool {
        switch (self, role) {
        case (.phoneOnly, .watch), (.watchOnly, .phone): false
        default: true
        }
    }
}

/// The kind of device for ``PlatformAvailability``; on Linux, `device.role` in the configuration sets it.
public enum DeviceRole: String, Codable, CaseIterable, Hashable, Sendable {
    /// Neither phone nor watch: every key is available.
    case all
    /// A phone.
    case phone
    /// A watch.
    case watch
}

/// When a value goes to a sync transport.
public enum SyncPolicy: String, Codable, CaseIterable, Hashable, Sendable {
    /// Never.
    case never
    /// When the app asks for it.
    case manual
    /// On every change, if the value is no larger than the configured limit (100 KB by default).
    case automaticSmall
}
