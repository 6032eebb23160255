/// When a keychain value may be read. A backend declares which of these it enforces; the host refuses the others unless
/// the configuration calls them advisory.
public enum KeychainAccessibility: String, Codable, CaseIterable, Hashable, Sendable {
    /// While the device is unlocked.
    case whenUnlocked
    /// From the first unlock until the next restart.
    case afterFirstUnlock
    /// While unlocked; never leaves this device.
    case whenUnlockedThisDeviceOnly
    /// From the first unlock until the next restart; never leaves this device.
    case afterFirstUnlockThisDeviceOnly
    /// Always: the least secure.
    case always
    /// Always; never leaves this device.
    case alwaysThisDeviceOnly
    /// Only on a device with a passcode; never leaves it.
    case whenPasscodeSetThisDeviceOnly
}
