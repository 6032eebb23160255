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

    /// Whether a device of this role may use the key.
    public func isAvailable(on role: DeviceRole) -> Bool {
        switch (self, role) {
        case (.phoneOnly, .watch), (.watchOnly, .phone): false
        default: true
        }
    }
}
