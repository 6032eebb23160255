internal import FoundationEssentials
internal import HostGround
internal import HostMigration
internal import HostPlugins
package import HostStores
package import HostSync
package import LocalDataAPI

/// Whether this device leads its group, kept where migrations read it without the group's keys.
extension SyncDevice {
    /// What the last turn of any process of this device has found; `nil` if the device is in no group, or nothing
    /// carries its values.
    package static func standing(_ snapshot: RouterSnapshot) async throws(StorageError) -> SyncStanding? {
        snapshot.transport == nil ? nil : try await keptStanding(snapshot)
    }

    /// The same, also if the configuration names no transport any more.
    package static func keptStanding(_ snapshot: RouterSnapshot) async throws(StorageError) -> SyncStanding? {
        let home = try snapshot.slot(for: homeDomain)
        return try await onIOThread { () throws(StorageError) in
            try SyncPlace.standing(in: try home.openIfNeeded()).valueNow().map { (data) throws(StorageError) in
                try SyncStanding(data)
            }
        }
    }

    /// Whether another device has published a value of a key that this device's app does not take part with. Needs the
    /// group's keys.
    package static func isKeptAside(at key: ResolvedKey, _ snapshot: RouterSnapshot) async throws(StorageError) -> Bool
    {
        let home = try snapshot.slot(for: homeDomain)
        return try await onIOThread { () throws(StorageError) in
            try Kept(at: key, home: try home.openIfNeeded(), snapshot) != nil
        }
    }

    /// Stores such a value where this device's app would have it.
    package static func adopt(
        _ key: AnyStorageKey, _ resolved: ResolvedKey, _ snapshot: RouterSnapshot
    ) async throws(StorageError) {
        let home = try snapshot.slot(for: homeDomain)
        try await onIOThread { () throws(StorageError) in
            guard let kept = try Kept(at: resolved, home: try home.openIfNeeded(), snapshot),
                let (data, attributes) = try kept.value()
            else { return }
            let synced = SyncedKey(key: key, resolved: resolved)
            guard synced.canUse(data, attributes) else { return }
            let target = resolved.attributes == nil ? resolved : try resolved.writing(synced.kept(attributes))
            // An earlier release of the app that still runs may set it at this moment; that is later, and stays.
            var views: [AtomicScope: StoreView] = [:]
            guard try resolved.readStored(&views) == nil else { return }
            _ = try BatchRun(
                snapshot: snapshot, changes: [target.changing(to: data)], views: Array(views.values), progress: {}
            ).run()
        }
    }

    /// A value of a key of an earlier release that another device has published.
    private struct Kept {
        private let name: String
        private let membership: SyncMembership
        private let crypto: GroupCrypto
        private let keychain: KeychainValue
        private let (home, store): (OpenStore, OpenStore)

        /// - Returns: `nil` if it is absent, or the group has had a later value of the key that it is brought to.
        init?(at key: ResolvedKey, home: OpenStore, _ snapshot: RouterSnapshot) throws(StorageError) {
            let crypto = try GroupCrypto(try snapshot.crypto.openIfNeeded())
            let keychain = try snapshot.rings.value(HostSettings.Encryption.defaultService, SyncMembership.account)
            guard let membership = try SyncMembership.load(from: keychain, crypto) else { return nil }
            let name = try RecordSealer.name(of: "\(key.address)", membership.keys, crypto)
            // An earlier release of the app may have had the entry in the key's store.
            for store in [home, key.open] {
                guard let data = try SyncPlace.entry(name, in: store).valueNow(), let entry = SyncEntry(data),
                    entry.isParked
                else { continue }
                guard let latest = entry.published.values.max(by: { $0.version < $1.version }), latest.kind == .value,
                    entry.passed.map({ $0 < latest.version }) ?? true
                else { return nil }
                (self.name, self.membership, self.crypto, self.keychain) = (name, membership, crypto, keychain)
                (self.home, self.store) = (home, store)
                return
            }
            return nil
        }

        /// The value; `nil` if it is not kept here.
        func value() throws(StorageError) -> (data: Data, attributes: ValueAttributes)? {
            guard let sealed = try SyncPlace.parked(name, in: store).valueNow() else { return nil }
            let group = try MemberGroup(membership, crypto, keychain: keychain, page: try SyncPlace.log(in: home))
            let content = SyncContent(try group.openOwn(sealed, name: name))
            return content.flatMap { RemoteVersion.of($0)?.0.value }
        }
    }

    /// Stores it, in a turn.
    func keepStanding(_ standing: SyncStanding?) throws(StorageError) {
        let place = try SyncPlace.standing(in: home)
        let kept = try place.valueNow()
        if let standing {
            let data = standing.encoded()
            if kept != data { try place.setNow(data) }
        } else if kept != nil {
            _ = try place.sealedValue(place.layers).remove()
        }
    }
}

extension SyncStanding {
    /// What a group's log says of this device; `nil` if it is no member.
    init?(of group: MemberGroup, isJoining: Bool) {
        guard group.members.contains(group.me) else { return nil }
        switch group.log.state.lead {
        case nil: self = .nobodyLeads
        case let lead? where lead.id != group.me: self = .follows(lead.name)
        case _?: self = isJoining ? .joins : .leads
        }
    }
}
