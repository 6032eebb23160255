internal import ByteCoding
internal import FoundationEssentials
internal import Glibc
internal import HostGround
internal import HostPlugins
package import LocalDataAPI

/// The key rings, and the keys of stores' rings, that the host has created or used in a keychain.
///
/// A value of the keychain domain is a ring if it is on this list or configured, and never because an envelope's header
/// says so: a header is not authentic before its key is known. Apps can neither read nor write the values on the list.
///
/// The list is in the keychain's own store, one value per entry, sealed like everything in it, in a domain that cannot
/// be configured. So it goes wherever the rings go: with a copy of the store and with its backup. An attacker who could
/// forge an entry could as well forge the rings. Entries are only added, so processes need no lock.
package struct RingList: Sendable {
    /// The kind of a listed value.
    package enum Kind: String, Sendable {
        /// A ring whose keys seal values of keys with an encryption policy.
        case ring
        /// The key that a store's own ring is sealed with.
        case storeKey = "store key"
        /// This device's keys in a sync group, and the group's.
        case sync
    }

    /// A location in the keychain.
    package struct Entry: Hashable, Sendable {
        package let service: String
        package let account: String
        package let kind: Kind
    }

    private static let domain = HostSettings.ringListDomain

    /// The keychain service in which every value is the host's, whether it exists yet or not: the host reads some of
    /// them when it first needs them, and would take what another program has put there for its own.
    static let ownService = HostSettings.Encryption.defaultService

    package let open: OpenStore
    /// The folder of the rings' locks.
    let folder: String

    /// Whether a namespace is the list's.
    package static func holds(_ place: StorageNamespace) -> Bool { place.domain == domain }

    /// The path of a ring's lock, without an extension.
    func ringFile(_ service: String, _ account: String) -> String {
        "\(folder)/ring-\(StableHash.text(["keychain", identity, service, account]))"
    }

    /// The path of the lock for creating a store's key.
    func keyFile(_ service: String, _ account: String) -> String {
        "\(folder)/key-\(StableHash.text(["key in keychain", identity, service, account])).lock"
    }

    /// Whether this host has locked such a ring or key, which older installations did without a list.
    func wasLocked(_ service: String, _ account: String) -> Bool {
        HostFile.exists("\(ringFile(service, account)).lock") || HostFile.exists(keyFile(service, account))
    }

    /// Whether a location is the host's from the start, is listed, or this host has locked such a ring or key. Only for
    /// keeping apps away; opening values requires ``kind(of:_:)``. May wait.
    func keepsAppsAway(from service: String, _ account: String) throws(StorageError) -> Bool {
        if service == Self.ownService { return true }
        return try isListed(service, account)
    }

    /// Whether there is an entry, or this host has locked such a ring or key. May wait.
    package func isListed(_ service: String, _ account: String) throws(StorageError) -> Bool {
        if wasLocked(service, account) { return true }
        let handle = HeldHandle(open.store, try open.store.resolve(address(service, account)))
        defer { withExtendedLifetime(handle) {} }
        return try open.store.exists(handle.handle)
    }

    /// The kind of the entry for a location; `nil` if absent. May wait.
    package func kind(of service: String, _ account: String) throws(StorageError) -> Kind? {
        let entry = try value(service, account)
        return try open.repeating { () throws(StorageError) in try entry.get() }
            .flatMap { Kind(rawValue: String(decoding: $0, as: UTF8.self)) }
    }

    /// Adds an entry; adding an existing one is fine. May wait.
    package func add(_ kind: Kind, _ service: String, _ account: String) throws(StorageError) {
        guard try self.kind(of: service, account) == nil else { return }
        try value(service, account).set(Data(kind.rawValue.utf8), attributes: nil)
    }

    /// Removes an entry, and the record that this host has used it. May wait.
    package func remove(_ service: String, _ account: String) throws(StorageError) {
        _ = try value(service, account).remove()
        for path in ["\(ringFile(service, account)).lock", keyFile(service, account)] { unlink(path) }
    }

    /// The listed accounts of a service; empty if the store cannot list. May wait.
    func accounts(of service: String) throws(StorageError) -> Set<String> {
        guard open.store.abilities.enumeration != nil else { return [] }
        return try open.repeating { () throws(StorageError) in
            var accounts: Set<String> = []
            try open.store.forEachName(in: Self.place(service)) {
                accounts.insert($0)
                return true
            }
            return accounts
        }
    }

    /// All entries, ordered by service and account; empty if the store cannot list. May wait.
    ///
    /// - Parameter passingOver: Takes why some cannot be listed; `nil` if that is an error.
    package func entries(passingOver: ((StorageError) -> Void)? = nil) throws(StorageError) -> [Entry] {
        guard open.store.abilities.enumeration != nil else { return [] }
        func pass(_ error: StorageError) throws(StorageError) {
            guard let passingOver, error.code == .permissionDenied else { throw error }
            passingOver(error)
        }
        var services: Set<String> = []
        do throws(StorageError) {
            try open.store.forEachPlace {
                if Self.holds($0) { services.insert($0.scope) }
                return true
            }
        } catch { try pass(error) }
        var entries: [Entry] = []
        for service in services.sorted() {
            do throws(StorageError) {
                for account in try accounts(of: service).sorted() {
                    guard let kind = try kind(of: service, account) else { continue }
                    entries.append(Entry(service: service, account: account, kind: kind))
                }
            } catch { try pass(error) }
        }
        return entries
    }

    private var identity: String { String(open.identity, radix: 16) }

    private static func place(_ service: String) -> StorageNamespace {
        StorageNamespace(domain: domain, scope: service)
    }

    /// Where the entry for a location is.
    package func address(_ service: String, _ account: String) -> StorageAddress {
        StorageAddress(Self.place(service), name: account)
    }

    private func value(_ service: String, _ account: String) throws(StorageError) -> SealedValue {
        try open.value(at: address(service, account))
    }
}
