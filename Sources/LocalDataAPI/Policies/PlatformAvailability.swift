/// On which devices a key may be used.
public enum PlatformAvailability: String, Codable, CaseIterable, Hashable, Sendable {
    /// Everywhere.
    case all
    /// On phones.
    case phoneOnly
    /// On watches.
    case watchOnly
    /// On phones, and on watches as a synchronized copy.
    case phoneWithWatchSync

    /// Whether a device of a system may use the key, in the role `all`: on Linux the role says what kind of device it
    /// is.
    public func isAvailable(on platform: Platform) -> Bool { isAvailable(on: DeviceRole.all) }

    /// Whether a device of this role may use the key.
    public func isAvailable(on role: DeviceRole) -> Bool {
        switch (self, role) {
        case (.phoneOnly, .watch), (.watchOnly, .phone): false
        default: true
        }
    }
}
