internal import FoundationEssentials
public import LocalDataAPI
internal import Synchronization

/// Sync: the values of registered keys with a sync policy converge on all devices of a group. What carries them sees
/// neither names nor values: see `SyncTransport`.
///
/// ```swift
/// try await router.createSyncGroup(named: "desk")          // on the first device
/// let code = try await router.inviteToSync().code
/// try await router.joinSyncGroup(code, named: "laptop")    // on the second one
/// try await router.syncContinuously()                      // on both, until the task is cancelled
/// ```
///
/// Of two versions of a value the later one wins on every device. The other one is kept for the days of
/// `migrations.grace`: see ``syncConflicts()``. Any order of starts converges, and a device may be away for as long as
/// `sync.forget` says.
extension StorageRouter {
    /// Publishes what has changed on this device, and takes over what others have published.
    ///
    /// - Parameter isFromStart: Whether to read everything that the transport has, and not only what is new, and to
    ///   publish again those records of this device that it has lost. Takes time that grows with the number of values.
    /// - Throws: `notFound` if this device is in no group; `permissionDenied` if it was removed; `storeUnavailable` if
    ///   the other side cannot be reached; `securityApplicationFailed` if it has keys of a group, but no record of it:
    ///   see ``recoverSyncGroup()``; whatever a store reports. What was not done is done by the next call.
    @discardableResult
    public func sync(fromStart isFromStart: Bool = false) async throws -> SyncReport {
        let known = try await syncDevice()
        _ = try await bringEarlierValues(known)
        var (device, report) = try await syncing(on: known) { (device) throws(StorageError) in
            try await device.sync { (turn) throws(StorageError) in if isFromStart { try turn.engine.startOver() } }
        }
        // Of what others have published, and this sync has received.
        let brought = try await bringEarlierValues(device)
        if !brought.isEmpty {
            let (changed, conflicts) = (report.changed, report.conflicts)
            report = try await device.publish(brought)
            (report.changed, report.conflicts) = (changed + report.changed, conflicts + report.conflicts)
        }
        await expireSyncConflicts(try await snapshot())
        return report
    }

    /// Reads what this device knew of its group again from the transport, after the store of `userDefaults` has lost
    /// it. The next sync takes over the group's values again. Does nothing if nothing is lost.
    ///
    /// Only a person can decide this: keys of a group without a record of it may be somebody else's, who would read and
    /// write this device's values.
    ///
    /// - Returns: The names of the devices of the group.
    /// - Throws: `notFound` if this device has no keys of a group; `storeUnavailable` if the transport does not have
    ///   all that is needed.
    public func recoverSyncGroup() async throws -> [String] { try await syncDevice().recover() }

    /// Removes the values that lost whose time is over.
    func expireSyncConflicts(_ snapshot: RouterSnapshot) async {
        await Quarantine(access: StoreAccess(snapshot: snapshot), kind: .conflict)
            .expire(after: snapshot.settings.migrationGrace)
    }

    /// Does what ``sync(fromStart:)`` does if this device is in a group, and logs a failure: for the start of an app.
    ///
    /// - Returns: `nil` if there is no transport, the device is in no group, or sync failed. It logs that there is no
    ///   transport if keys of the catalogs have a sync policy.
    @discardableResult
    public func syncRegisteredKeysIfNeeded() async -> SyncReport? {
        guard let snapshot = try? await snapshot() else { return nil }
        guard snapshot.transport != nil else {
            for finding in snapshot.unsyncedKeys { snapshot.log(.info, "sync", finding.text) }
            return nil
        }
        do { return try await sync() } catch {
            let failure = error as? StorageError
            if failure?.code != .notFound {
                snapshot.log(.warning, "sync", failure.map { "\($0)" } ?? "\(error)")
            }
            return nil
        }
    }

    /// Publishes the value of a key with the policy `manual`, and syncs.
    ///
    /// - Throws: `dataTooLargeForSync` if the transport cannot carry it; `unsupported` if the key does not take part;
    ///   what ``sync(fromStart:)`` throws.
    @discardableResult
    public func sync<Value>(_ key: StorageKey<Value>) async throws -> SyncReport { try await sync(AnyStorageKey(key)) }

    /// The same for a key without its type.
    @discardableResult
    public func sync(_ key: AnyStorageKey) async throws -> SyncReport {
        let address = "\(try await resolve(KeyReference(key)).address)"
        return try await syncDevice().sync([address]) { (turn) throws(StorageError) in try turn.engine.request(address)
        }
    }

    /// How far sync has come, without asking the transport.
    public func syncReport() async throws -> SyncReport {
        try await syncing(on: syncDevice()) { (device) throws(StorageError) in try await device.report() }.report
    }

    /// Makes the removals that wait for consent.
    @discardableResult
    public func acceptSyncRemovals() async throws -> SyncReport {
        try await syncing(on: syncDevice()) { (device) throws(StorageError) in
            try await device.sync { (turn) throws(StorageError) in try turn.engine.acceptRemovals() }
        }.report
    }

    /// The addresses of values that sync changes on this device from now on, by any call through this router.
    public func syncedChanges() -> AsyncStream<String> { state.withLock { $0.synced }.stream() }
}

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

// Values that lost.
extension StorageRouter {
    /// The values that lost against another version.
    public func syncConflicts() async throws -> QuarantinedValue.List { try await putAside(.conflict) }

    /// The value that lost with an id, or with the only id that begins so, and its bytes.
    ///
    /// - Throws: `notFound`; `invalidOptions` if several ids begin so; what reading the value throws.
    public func syncConflict(_ id: String) async throws -> QuarantinedValue.Content {
        try await putAside(id, .conflict)
    }

    /// Makes a value that lost the current one, on all devices; the value that it replaces is kept instead.
    ///
    /// - Throws: `notFound`.
    @discardableResult
    public func restoreSyncConflict(_ id: String) async throws -> QuarantinedValue {
        let quarantine = Quarantine(access: try await access(), kind: .conflict)
        let item = try await quarantine.item(id)
        try await quarantine.exchange(item)
        return QuarantinedValue(item)
    }
}
