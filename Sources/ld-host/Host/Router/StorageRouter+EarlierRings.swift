internal import LocalDataAPI

/// A key ring, or the key of a store's ring, that the host created in the keychain and that the configuration no longer
/// names.
public struct FormerRing: Sendable {
    /// The keychain service.
    public let service: String
    /// The service's account.
    public let account: String
    /// Whether it is the key of a sealed store rather than a ring.
    public let isStoreKey: Bool
    /// The ring's keys; empty for a store's key.
    public let keys: [KeyDescription]
}

/// The rings in use before `encryption.service` or `encryption.account` was changed.
extension StorageRouter {
    /// The rings in the keychain's list that the configuration does not name, ordered by service and account; empty if
    /// the keychain's store cannot list. Values that such a ring has sealed are readable, and
    /// ``reseal(_:planOnly:progress:)`` includes them.
    public func formerRings() async throws -> [FormerRing] {
        try await withRing(.master) { (scan) throws(StorageError) in
            let rings = scan.snapshot.rings
            var found: [FormerRing] = []
            for ring in try rings.earlier() {
                guard let state = try ring.state() else { continue }
                let (service, account) = MasterRings.parts(of: ring.headerName)
                found.append(
                    FormerRing(
                        service: service, account: account, isStoreKey: false,
                        keys: state.entries.map { KeyDescription($0) }))
            }
            for entry in try rings.list().entries() where entry.kind == .storeKey {
                let place = StorageNamespace(domain: "keychain", scope: entry.service)
                if scan.snapshot.isConfigured(StorageAddress(place, name: entry.account)) { continue }
                found.append(
                    FormerRing(service: entry.service, account: entry.account, isStoreKey: true, keys: []))
            }
            return found.sorted { ($0.service, $0.account) < ($1.service, $1.account) }
        }
    }

    /// Adds a ring to the keychain's list, so that it opens what it has sealed: one that `encryption.service` and
    /// `encryption.account` named before there was a list. Adding a ring that someone else created lets everything open
    /// that they have sealed.
    ///
    /// - Returns: The ring's keys.
    /// - Throws: `notFound` if there is no value; `corrupt` if it is not a ring.
    @discardableResult
    public func adoptRing(service: String, account: String) async throws -> [KeyDescription] {
        try await withRing(.master) { (scan) throws(StorageError) in
            let value = try scan.snapshot.rings.value(service, account)
            guard let ring = try value.load(nil) else {
                throw StorageError(.notFound, "there is no key ring '\(service)/\(account)' in the keychain")
            }
            let state = try ring.withBytes { (bytes) throws(StorageError) in
                try KeyRingState(decoding: bytes, of: "'\(service)/\(account)' of the keychain, as a key ring,")
            }
            try value.list.add(.ring, service, account)
            return state.entries.map { KeyDescription($0) }
        }
    }

    /// Removes a ring, or a store's key, from the keychain's list: from then on it opens nothing, and its value is an
    /// ordinary one. The value itself stays; ``adoptRing(service:account:)`` reverts this for a ring. A process that
    /// has used the ring still opens with it until it ends.
    ///
    /// - Throws: `busy` for a ring that the configuration names; `notFound` if it is not on the list.
    public func disownRing(service: String, account: String) async throws {
        try await withRing(.master) { (scan) throws(StorageError) in
            let address = StorageAddress(StorageNamespace(domain: "keychain", scope: service), name: account)
            guard !scan.snapshot.isConfigured(address) else {
                throw StorageError(
                    .busy, "the configuration names '\(service)/\(account)', which stays on the keychain's list",
                    hint: "see encryption.service, encryption.account and the sealing of stores")
            }
            let list = try scan.snapshot.rings.list()
            guard try list.keepsAppsAway(from: service, account) else {
                throw StorageError(
                    .notFound, "'\(service)/\(account)' is not on the keychain's list", hint: "run: ld-host keys list")
            }
            try list.remove(service, account)
        }
    }
}
