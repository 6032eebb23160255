internal import LocalDataAPI

extension StorageKeyDescriptor {
    /// Why the values of a key with a policy may not leave the device; `nil` if they may, or the key has no policy.
    package var syncRefusal: String? {
        guard syncPolicy != .never else { return nil }
        switch availability {
        case .phoneOnly, .watchOnly: return "is \(availability.rawValue)"
        case .all, .phoneWithWatchSync: break
        }
        switch security {
        case .keychain(let accessibility, _) where accessibility.isThisDeviceOnly:
            return "has the accessibility \(accessibility.rawValue)"
        case .encrypted(.external(let source, _)): return "is sealed with the app's own key '\(source.id)'"
        case .none, .encrypted, .keychain: return nil
        }
    }
}

extension KeychainAccessibility {
    /// Whether values never leave the device.
    var isThisDeviceOnly: Bool {
        switch self {
        case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly,
            .whenPasscodeSetThisDeviceOnly:
            true
        case .whenUnlocked, .afterFirstUnlock, .always: false
        }
    }
}
