/// What a person must do before a keychain value is released. All six can be expressed; see
/// ``KeychainAccessibility`` for what happens where one cannot be enforced.
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
