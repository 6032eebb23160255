internal import FoundationEssentials
internal import LocalDataAPI
internal import Synchronization

/// The rings whose keys seal the values of keys with an encryption policy. They are values of the keychain domain.
///
/// A header names its ring unless that is the one of the defaults, so a change of `encryption.service` or
/// `encryption.account` leaves what was sealed before as readable as it was.
final class MasterRings: Sendable {
    /// The ring that seals what is written.
    let current: String?
    private let encryption: HostSettings.Encryption
    private let folder: String
    private let crypto: CryptoSlot
    private let keychain: @Sendable (_ service: String, _ account: String) throws(StorageError) -> KeychainValue
    private let rings = Mutex<[String?: KeyRing]>([:])

    /// - Parameters:
    ///   - folder: Where the locks of rings are.
    ///   - keychain: A value of the keychain domain.
    init(
        _ encryption: HostSettings.Encryption, folder: String, crypto: CryptoSlot,
        keychain: @escaping @Sendable (_ service: String, _ account: String) throws(StorageError) -> KeychainValue
    ) {
        self.encryption = encryption
        self.folder = folder
        self.crypto = crypto
        self.keychain = keychain
        current = Self.name(encryption.service, encryption.account)
    }

    /// A ring by the name that headers have for it. May wait.
    func ring(named name: String?) throws(StorageError) -> KeyRing {
        if let known = rings.withLock({ $0[name] }) { return known }
        let (service, account) = Self.parts(of: name)
        let keychain = try keychain(service, account)
        let value = keychain.value
        let words = ["keychain", String(keychain.open.identity, radix: 16), service, account]
        let file = "\(folder)/ring-\(StableHash.text(words))"
        let ring = KeyRing(
            name: "the key ring '\(service)/\(account)'", headerName: name, file: file, keyLength: encryption.keyLength,
            crypto: try crypto.openIfNeeded(),
            storage: KeyRing.Storage(
                isLasting: keychain.value.place != nil,
                load: { () throws(StorageError) in
                    guard var data = try value.get() else { return nil }
                    defer { data.resetBytes(in: 0..<data.count) }
                    return try data.withBuffer { (bytes) throws(StorageError) in try SecretBytes(copying: bytes) }
                },
                save: { (state) throws(StorageError) in
                    var data = state.withBytes { Data($0) }
                    defer { data.resetBytes(in: 0..<data.count) }
                    try value.set(data, attributes: nil)
                }))
        // Of two that come at once, both use the one that is kept.
        return rings.withLock { rings in
            if let known = rings[name] { return known }
            rings[name] = ring
            return ring
        }
    }

    /// The layer around the values of an address.
    func layer(for address: StorageAddress, style: EnvelopeStyle) throws(StorageError) -> SealingLayer {
        SealingLayer(
            keys: .ring(
                try ring(named: current),
                named: { (name) throws(StorageError) in try self.ring(named: name, opening: address) }),
            envelope: Envelope(address, crypto: try crypto.openIfNeeded()), style: style)
    }

    /// The ring that a header asks for, which is not authentic yet.
    ///
    /// - Throws: `cannotOpen` if no ring can have such a name.
    private func ring(named name: String?, opening address: StorageAddress) throws(StorageError) -> KeyRing {
        do throws(StorageError) { return try ring(named: name) } catch {
            throw error.code == .invalidAddress ? EnvelopeContext(address).cannotOpen : error
        }
    }

    /// Forgets the keys that are in memory.
    func forgetKeys() { for ring in rings.withLock({ Array($0.values) }) { ring.forgetKeys() } }

    private static func name(_ service: String, _ account: String) -> String? {
        let isDefault =
            service == HostSettings.Encryption.defaultService && account == HostSettings.Encryption.defaultAccount
        return isDefault ? nil : "\(service)\0\(account)"
    }

    private static func parts(of name: String?) -> (service: String, account: String) {
        let parts = (name ?? "").split(separator: "\0", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            return (HostSettings.Encryption.defaultService, HostSettings.Encryption.defaultAccount)
        }
        return (parts[0], parts[1])
    }
}
