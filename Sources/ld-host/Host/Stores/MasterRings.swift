internal import ByteCoding
package import HostGround
package import HostPlugins
package import HostSealing
package import LocalDataAPI
internal import Synchronization

/// The rings whose keys seal the values of keys with an encryption policy. They are values of the keychain domain.
///
/// A header names its ring unless that is the default ring. So after a change of `encryption.service` or
/// `encryption.account`, earlier values stay readable. Only these rings open values: the configured one, the default
/// one, and those on the keychain's list; anyone can write a header.
package final class MasterRings: Sendable {
    /// The ring that seals new values.
    package let current: String?
    private let encryption: HostSettings.Encryption
    private let crypto: CryptoSlot
    private let keychain: @Sendable (_ service: String, _ account: String) throws(StorageError) -> KeychainValue
    private let rings = Mutex<[String?: KeyRing]>([:])

    /// - Parameter keychain: A value of the keychain domain.
    package init(
        _ encryption: HostSettings.Encryption, crypto: CryptoSlot,
        keychain: @escaping @Sendable (_ service: String, _ account: String) throws(StorageError) -> KeychainValue
    ) {
        self.encryption = encryption
        self.crypto = crypto
        self.keychain = keychain
        current = Self.name(encryption.service, encryption.account)
    }

    /// A ring by its name in headers. May wait.
    ///
    /// - Throws: `cannotOpen` for one that is not trusted.
    package func ring(named name: String?) throws(StorageError) -> KeyRing {
        if let known = rings.withLock({ $0[name] }) { return known }
        let (service, account) = Self.parts(of: name)
        let keychain = try keychain(service, account)
        // The default ring is never an app's value, and needs no entry.
        let kind: RingList.Kind? = name == nil ? nil : .ring
        if kind != nil, name != current, try keychain.list.kind(of: service, account) != .ring {
            throw StorageError(
                .cannotOpen,
                "the key ring '\(service)/\(account)' is not on this keychain's list of rings, so it opens nothing",
                // The names are the header's, which an attacker may choose as shell commands.
                hint: "only if you once set encryption.service and encryption.account to these names: "
                    + "ld-host keys adopt SERVICE/ACCOUNT")
        }
        let ring = KeyRing(
            name: "the key ring '\(service)/\(account)'", headerName: name,
            file: keychain.list.ringFile(service, account), keyLength: encryption.keyLength,
            crypto: try crypto.openIfNeeded(),
            storage: KeyRing.Storage(
                isLasting: keychain.value.place != nil, in: keychain.value.store,
                lockName: "key ring \(service)\0\(account)",
                load: { () throws(StorageError) in try keychain.load(kind) },
                save: { (state) throws(StorageError) in try keychain.save(state, kind) },
                stamp: { () throws(StorageError) in
                    try keychain.value.store.get(keychain.value.handle).map { StableHash.of($0) }
                }))
        // If two threads come at once, both use the ring that is kept.
        return rings.withLock { rings in
            if let known = rings[name] { return known }
            rings[name] = ring
            return ring
        }
    }

    /// The layer around the values of an address.
    package func layer(for address: StorageAddress, style: EnvelopeStyle) throws(StorageError) -> SealingLayer {
        let ring = try ring(named: current)
        return SealingLayer(
            keys: .ring(
                ring, named: { (name) throws(StorageError) in try self.ring(named: name, opening: address) }),
            envelope: ring.envelope(of: address, try crypto.openIfNeeded()), style: style,
            limit: DerivationLimit(style.derivation, iterations: encryption.iterations))
    }

    /// The ring that a header names, which is not authentic yet.
    ///
    /// - Throws: `cannotOpen` if no ring can have such a name, or it is not trusted.
    private func ring(named name: String?, opening address: StorageAddress) throws(StorageError) -> KeyRing {
        do throws(StorageError) { return try ring(named: name) } catch {
            switch error.code {
            case .invalidAddress: throw EnvelopeContext(address).cannotOpen
            case .cannotOpen:
                throw StorageError(
                    .cannotOpen, "'\(address)' cannot be opened: \(error.message); it stays as it is", hint: error.hint)
            default: throw error
            }
        }
    }

    /// The rings that may have sealed values before the current one: those on the list, and the default one. May wait.
    package func earlier() throws(StorageError) -> [KeyRing] {
        var names: [String?] = current == nil ? [] : [nil]
        for entry in try list().entries() where entry.kind == .ring {
            let name = Self.name(entry.service, entry.account)
            if name != current, name != nil { names.append(name) }
        }
        var rings: [KeyRing] = []
        for name in names { rings.append(try ring(named: name)) }
        return rings
    }

    /// The keychain's list of rings. May wait.
    package func list() throws(StorageError) -> RingList {
        let (service, account) = Self.parts(of: current)
        return try value(service, account).list
    }

    /// The value at a location of the keychain. May wait.
    package func value(_ service: String, _ account: String) throws(StorageError) -> KeychainValue {
        try keychain(service, account)
    }

    /// Forgets the keys in memory.
    package func forgetKeys() { for ring in rings.withLock({ Array($0.values) }) { ring.forgetKeys() } }

    /// A ring's name in headers.
    package static func name(_ service: String, _ account: String) -> String? {
        let isDefault =
            service == HostSettings.Encryption.defaultService && account == HostSettings.Encryption.defaultAccount
        return isDefault ? nil : "\(service)\0\(account)"
    }

    /// The location of a ring by its name in headers.
    package static func parts(of name: String?) -> (service: String, account: String) {
        let parts = (name ?? "").split(separator: "\0", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            return (HostSettings.Encryption.defaultService, HostSettings.Encryption.defaultAccount)
        }
        return (parts[0], parts[1])
    }
}
