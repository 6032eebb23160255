internal import HostGround
internal import HostPlugins
package import HostStores
internal import HostSync
package import LocalDataAPI

// Whether this device is in a group.
extension SyncDevice {
    /// The number of members of the group that this device is in, as far as it knows; `nil` if it is in none. May wait.
    ///
    /// - Throws: `permissionDenied` if it is no member any more.
    package static func memberCount(_ snapshot: RouterSnapshot) throws(StorageError) -> Int? {
        let crypto = try GroupCrypto(try snapshot.crypto.openIfNeeded())
        let keychain = try snapshot.rings.value(HostSettings.Encryption.defaultService, SyncMembership.account)
        let home = try snapshot.slot(for: homeDomain).openIfNeeded()
        guard let membership = try SyncMembership.load(from: keychain, crypto) else {
            try requireNoLostMembership(snapshot, home)
            return nil
        }
        try MovedDomains(snapshot.settings.folders).requireUnmoved(homeDomain, in: home, after: .max)
        let group = try MemberGroup(membership, crypto, keychain: keychain, page: try SyncPlace.log(in: home))
        try requireMember(group)
        return group.members.count
    }

    /// Why there is no membership: this device is in no group, or its keychain does not have what it had.
    var noGroup: StorageError {
        do throws(StorageError) { try Self.requireNoLostMembership(snapshot, home) } catch { return error }
        return StorageError(
            .notFound, "this device is in no sync group",
            hint: "create one with: ld-host sync init; or join one with: ld-host sync join")
    }

    private static func requireNoLostMembership(
        _ snapshot: RouterSnapshot, _ home: OpenStore
    ) throws(StorageError) {
        try snapshot.slot(for: "keychain").openIfNeeded().sealing?.requireRing()
        try requireNoFormerMembership(snapshot, home)
    }

    /// - Throws: `invalidConfiguration` if a store that served the keychain before has the membership of this device.
    static func requireNoFormerMembership(_ snapshot: RouterSnapshot, _ home: OpenStore) throws(StorageError) {
        // A device that has left its group has no log of it any more.
        guard try SyncPlace.log(in: home).valueNow() != nil else { return }
        let (service, account) = (HostSettings.Encryption.defaultService, SyncMembership.account)
        let address = StorageAddress(StorageNamespace(domain: "keychain", scope: service), name: account)
        let serving = try snapshot.slot(for: "keychain").openIfNeeded()
        for name in RouteHistory(snapshot.settings.folders).stores where name != serving.name {
            // One that cannot be opened is looked at in vain.
            guard let open = try? snapshot.slotOrComponent(name).openIfNeeded(), open.identity != serving.identity,
                let value = try? open.value(at: address), (try? value.store.exists(value.handle)) == true
            else { continue }
            throw StorageError(
                .invalidConfiguration,
                "the keys of this device in its sync group, '\(address)', are in store '\(name)', and now "
                    + "'\(serving.name)' serves the keychain and does not have them",
                hint: "copy what is there: ld-host store copy \(name) \(serving.name) --domain keychain")
        }
    }
}
