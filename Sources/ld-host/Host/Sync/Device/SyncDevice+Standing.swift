internal import LocalDataAPI

/// Whether this device leads its group, kept where migrations read it without the group's keys.
extension SyncDevice {
    /// What the last turn of any process of this device has found; `nil` if the device is in no group, or nothing
    /// carries its values.
    static func standing(_ snapshot: RouterSnapshot) async throws(StorageError) -> SyncStanding? {
        snapshot.transport == nil ? nil : try await keptStanding(snapshot)
    }

    /// The same, also if the configuration names no transport any more.
    static func keptStanding(_ snapshot: RouterSnapshot) async throws(StorageError) -> SyncStanding? {
        let home = try snapshot.slot(for: homeDomain)
        return try await onIOThread { () throws(StorageError) in
            try SyncPlace.standing(in: try home.openIfNeeded()).valueNow().map { (data) throws(StorageError) in
                try SyncStanding(data)
            }
        }
    }

    /// Whether another device has published a value of a key that this device's app does not take part with. Needs the
    /// group's keys.
    static func isKeptAside(at key: ResolvedKey, _ snapshot: RouterSnapshot) async throws(StorageError) -> Bool {
        let home = try snapshot.slot(for: homeDomain)
        return try await onIOThread { () throws(StorageError) in
            let crypto = try GroupCrypto(try snapshot.crypto.openIfNeeded())
            let keychain = try snapshot.rings.value(HostSettings.Encryption.defaultService, SyncMembership.account)
            guard let membership = try SyncMembership.load(from: keychain, crypto) else { return false }
            let name = try RecordSealer.name(of: "\(key.address)", membership.keys, crypto)
            // An earlier release of the app may have had the entry in the key's store.
            for store in [try home.openIfNeeded(), key.open] {
                guard let data = try SyncPlace.entry(name, in: store).valueNow(), let entry = SyncEntry(data),
                    entry.isParked
                else { continue }
                return entry.published.values.max { $0.version < $1.version }?.kind == .value
            }
            return false
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
