internal import FoundationEssentials
internal import HostGround
internal import HostMigration
internal import HostStores
internal import HostTransfer
internal import LocalDataAPI
internal import Synchronization

/// The device of a router that syncs.
extension StorageRouter {
    /// This device, with the current configuration and catalogs.
    func syncDevice() async throws -> SyncDevice {
        guard !MigrationEngine.isMigrating else {
            throw StorageError(
                .unsupported, "a migration cannot sync: it changes nothing before it has returned",
                hint: "sync after it; migrate(_:) does so")
        }
        let snapshot = try await snapshot()
        guard let known = state.withLock({ $0.device }), known.snapshot === snapshot else {
            return try await makeDevice(snapshot)
        }
        return try await deviceWithMore(than: known) ?? known
    }

    /// Lets a device sync. If a value cannot be read, its key is left out: it keeps no other from syncing.
    ///
    /// - Returns: The device that goes on, and its report.
    func syncing(
        on device: SyncDevice, _ body: (SyncDevice) async throws(StorageError) -> SyncReport
    ) async throws -> (device: SyncDevice, report: SyncReport) {
        do { return (device, try await body(device)) } catch {
            guard error.isOfOneValue else { throw error }
            let other = try await makeDevice(device.snapshot, replacing: device)
            guard other.leftOut.count > device.leftOut.count else { throw error }
            return (other, try await body(other))
        }
    }

    /// The same device with the keys that were left out and can take part by now, e.g. since they were set, or since
    /// another device leads the group; `nil` if there are none.
    func deviceWithMore(than device: SyncDevice) async throws -> SyncDevice? {
        if !device.waits, try await waitsForOther(device.keys, device.snapshot) {
            return try await makeDevice(device.snapshot, replacing: device)
        }
        for left in device.leftOut {
            if case .key(let key) = try await candidate(left.key, device.snapshot), await key.reasonToLeaveOut == nil {
                return try await makeDevice(device.snapshot, replacing: device)
            }
        }
        return nil
    }

    /// - Parameter old: The device that goes on as another: then it is known, too, which values cannot be read.
    private func makeDevice(
        _ snapshot: RouterSnapshot, replacing old: SyncDevice? = nil
    ) async throws -> SyncDevice {
        var (keys, leftOut): ([SyncedKey], [SyncDevice.LeftOut]) = ([], [])
        for key in await eligibleKeys(snapshot) {
            switch try await candidate(key, snapshot) {
            case .key(let synced):
                if old != nil, let reason = await synced.reasonToLeaveOut {
                    leftOut.append(SyncDevice.LeftOut(key: key, address: synced.address, reason: reason))
                } else {
                    keys.append(synced)
                }
            case .leftOut(let left): leftOut.append(left)
            }
        }
        let waits = try await waitsForOther(keys, snapshot)
        if waits { keys += try await formerKeys(of: keys, snapshot) }
        for left in leftOut where old?.leftOut.contains(where: { $0.address == left.address }) != true {
            snapshot.log(
                .warning, "sync", "'\(left.address)' does not take part in sync until it can be read: \(left.reason)")
        }
        let home = try await StoreAccess(snapshot: snapshot).openStore(for: SyncDevice.homeDomain)
        let (found, others, synced) = (keys, leftOut, state.withLock { $0.synced })
        let (clock, machine) = state.withLock { ($0.clock, $0.machine) }
        let migrations = engine(snapshot)
        let device = try await onIOThread { () throws(StorageError) in
            try SyncDevice(
                snapshot, keys: found, leftOut: others, waits: waits, home: home, migrations: migrations, now: clock,
                machine: machine
            ) { synced.add($0) }
        }
        return state.withLock { state in
            if let known = state.device, known.snapshot === snapshot, known !== old { return known }
            state.device = device
            return device
        }
    }

    /// A key that is to take part in sync.
    enum Candidate {
        case key(SyncedKey)
        /// Its value is at another place and cannot be brought: to sync, it would look removed.
        case leftOut(SyncDevice.LeftOut)
    }

    /// A key as sync uses it, with its value where it is now.
    func candidate(
        _ key: AnyStorageKey, _ snapshot: RouterSnapshot
    ) async throws(StorageError) -> Candidate {
        let resolved = try await StoreAccess(snapshot: snapshot).resolveUnlisted(KeyReference(key))
        if let refusal = resolved.refusal { throw refusal }
        let migrations = engine(snapshot)
        let sources = try migrations.sourceAddresses(of: key)
        guard try await migrations.mayBeElsewhere(key.descriptor, resolved.address.place) else {
            return .key(SyncedKey(key: key, resolved: resolved, sourceAddresses: sources))
        }
        do {
            let origin = try await migrations.bringForSync(key, resolved)
            let addresses = try await migrations.formerAddresses(of: key)
            return .key(
                SyncedKey(
                    key: key, resolved: resolved, formerAddresses: addresses, sourceAddresses: sources, origin: origin))
        } catch {
            let reason = (error as? MigrationError)?.message ?? StorageError(wrapping: error).message
            return .leftOut(SyncDevice.LeftOut(key: key, address: "\(resolved.address)", reason: reason))
        }
    }
}
