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
