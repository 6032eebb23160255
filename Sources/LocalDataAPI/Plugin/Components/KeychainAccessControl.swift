/// What a person must do before a keychain releases a value. See ``KeychainAccessibility`` for controls that a backend
/// cannot enforce.
public enum KeychainAccessControl: String, Codable, CaseIterable, Hashable, Sendable {
    /// Any authentication.
    case userPresence
    /// Any enrolled biometry.
    case biometryAny
    /// The biometry enrolled when the value was written.
    case biometryCurrentSet
    /// The device passcode.
    case devicePasscode
    /// Any enrolled biometry, or the passcode.
    case biometryAnyOrDevicePasscode
    /// The biometry enrolled when the value was written, or the passcode.
    case biometryCurrentSetOrDevicePasscode
}
