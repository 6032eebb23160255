internal import LocalDataAPI

/// A key ring, or the key of a store's ring, that the host has made in the keychain and that the configuration names no
/// more.
public struct FormerRing: Sendable {
    /// The keychain service.
    public let service: String
    /// The account of the service.
    public let account: String
    /// Whether it is the key of a sealed store rather than a ring.
    public let isStoreKey: Bool
    /// The ring's keys; none of a store's key.
    public let keys: [KeyDescription]
}

/// The rings that were in use before `encryption.service` or `encryption.account` was changed.
extension StorageRouter {
    /// What the keychain's list has besides what the configuration names, in order of services and accounts; nothing
    /// where the keychain's store cannot list what it holds. Values that such a ring has sealed are readable, and
    /// ``reseal(_:planOnly:progress:)`` takes them along.
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

    /// Puts a ring on the keychain's list, so that it opens what it has sealed: one that `encryption.service` and
    /// `encryption.account` named before there was a list. Of a ring that someone else made, everything would open that
    /// they have sealed.
    ///
    /// - Returns: The ring's keys.
    /// - Throws: `notFound` if nothing is there; `corrupt` if it is no ring.
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

    /// Takes a ring, or a store's key, off the keychain's list: from then on it opens nothing, and its value is one as
    /// any other. Nothing is removed; ``adoptRing(service:account:)`` undoes it for a ring. A process that has used the
    /// ring opens with it until it ends.
    ///
    /// - Throws: `busy` for what the configuration names; `notFound` if it is not on the list.
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
