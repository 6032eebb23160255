internal import FoundationEssentials
internal import HostGround
internal import HostStores
internal import HostSync
internal import LocalDataAPI

/// The secrets of a device that is in a sync group: a value of the keychain.
///
/// Encoded: version 1, 1 byte | ``DeviceKeys``, 65 bytes | ``GroupKeys``.
struct SyncMembership: Sendable {
    private static let version: UInt8 = 1
    private static let deviceSize = 1 + 2 * GroupCrypto.size
    /// Where the keychain keeps it, beside the rings.
    static let account = "sync"

    let device: DeviceKeys
    var keys: GroupKeys

    /// The membership that a keychain keeps; `nil` if this device is in no group. May wait.
    ///
    /// - Throws: `corrupt` if it is damaged.
    static func load(from keychain: KeychainValue, _ crypto: GroupCrypto) throws(StorageError) -> SyncMembership? {
        guard let bytes = try keychain.load(.sync) else { return nil }
        var reader = SecretReader(bytes)
        let found = bytes.count > 0 ? try reader.byte() : 0
        guard found <= version else {
            throw StorageError(
                .unsupported,
                "this device's keys of its sync group, '\(account)' in the keychain, have version \(found); this program "
                    + "knows versions up to \(version)",
                hint: "use the program that wrote them, or a later one; nothing was changed")
        }
        guard found == version, bytes.count > 1 + deviceSize else {
            throw StorageError(
                .corrupt, "this device's keys of its sync group, '\(account)' in the keychain, are damaged",
                hint: "restore the keychain from a backup, or leave with: ld-host sync leave")
        }
        let device = try DeviceKeys(decoding: try reader.secret(deviceSize), crypto)
        let keys = try GroupKeys(decoding: try reader.secret(bytes.count - 1 - deviceSize), crypto)
        return SyncMembership(device: device, keys: keys)
    }

    /// Stores it durably. May wait.
    func save(to keychain: KeychainValue) throws(StorageError) {
        let parts: [SecretWriter.Part] = [
            .bytes([Self.version]), .secret(try device.encoded()), .secret(try keys.encoded()),
        ]
        try keychain.save(try SecretWriter.secret(of: parts), .sync)
    }
}
