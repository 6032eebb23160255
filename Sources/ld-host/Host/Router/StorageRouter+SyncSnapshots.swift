public import FoundationEssentials
internal import HostGround
internal import HostMigration
internal import HostStores
internal import HostTransfer
internal import LocalDataAPI

/// Values for apps that carry them on their own.
extension StorageRouter {
    /// The values of all registered keys with a sync policy, for an app that sends them to another device of its own,
    /// in whatever way: each as a ``SnapshotValue``, by the name of its key, or by its address if several keys have
    /// that name. They are not sealed. Larger ones than `sync.maxAutoSyncSize` are left out, and so is what cannot be
    /// read; the log names both. A snapshot says nothing of values that were removed.
    public func syncSnapshot() async -> [String: Data] {
        guard let snapshot = try? await snapshot() else { return [:] }
        await takeEarly(snapshot)
        var values: [SnapshotValue] = []
        for key in await eligibleKeys(snapshot) {
            do {
                let resolved = try await resolve(KeyReference(key))
                guard let value = try await value(of: resolved) else { continue }
                guard value.data.count <= snapshot.settings.sync.maxAutoSyncSize else {
                    throw StorageError(.valueTooLarge, "it is larger than 'sync.maxAutoSyncSize'")
                }
                values.append(value)
            } catch {
                let reason = StorageError(wrapping: error).message
                snapshot.log(.warning, "sync", "a snapshot leaves '\(key.address)' out: \(reason)")
            }
        }
        return values.byName
    }

    /// Stores the values of another device's snapshot that are newer than those here: each by itself, with the version
    /// of its type and whatever else was recorded with it. Each device's clock says when it has written a value, so the
    /// clocks should agree. A value here whose store does not say when it was written is replaced.
    ///
    /// - Returns: What became of each value.
    /// - Throws: Why the router cannot be used. What is wrong with one value is in the report.
    @discardableResult
    public func apply(snapshot values: [String: Data]) async throws -> SnapshotReport {
        let snapshot = try await snapshot()
        await takeEarly(snapshot)
        var keys: [ExactText: AnyStorageKey] = [:]
        for key in await eligibleKeys(snapshot) {
            guard let resolved = try? await resolve(KeyReference(key)) else { continue }
            keys[ExactText("\(resolved.address)")] = key
        }
        var report = SnapshotReport()
        for (name, data) in values.sorted(by: { $0.key < $1.key }) {
            do {
                let value = try Self.value(data, named: name, keys.values)
                guard let key = keys[ExactText(value.address)] else {
                    throw StorageError(
                        .unsupported, "'\(value.address)' takes no part in sync here",
                        hint: "register a catalog with the key, and give the key a sync policy")
                }
                report.add(try await take(value, key), value.address)
            } catch {
                report.failures[name] = StorageError(wrapping: error)
            }
        }
        return report
    }

    /// - Parameter keys: The keys that take part.
    private static func value(
        _ data: Data, named name: String, _ keys: some Collection<AnyStorageKey>
    ) throws(StorageError) -> SnapshotValue {
        do { return try SnapshotValue(data) } catch {
            guard error.code == .deserializationFailed else { throw error }
            let address = keys.filter { $0.descriptor.name == name || $0.address == name }.map(\.address).min()
            throw StorageError(
                error.code, "'\(name)': \(error.message)",
                hint: "pass on what syncSnapshot() returns; set a value of another origin with setData(_:for:), "
                    + (address.map { "for the key at '\($0)'" } ?? "for the key at its address"))
        }
    }

    /// What another device gets of a key.
    private func value(of resolved: ResolvedKey) async throws -> SnapshotValue? {
        guard let (data, attributes) = try await attributed(resolved) else { return nil }
        let time = try await SnapshotArrival(of: resolved).time(of: data, attributes)
        return SnapshotValue(
            address: "\(resolved.address)", data: data, attributes: attributes, time: time ?? Ledger.now)
    }

    /// The value and the attributes of one write.
    private func attributed(_ resolved: ResolvedKey) async throws -> (Data, ValueAttributes)? {
        if let refusal = resolved.refusal { throw refusal }
        let value = try await resolved.sealedValue()
        return try await resolved.open.wait("reading '\(resolved.address)'") { () throws(StorageError) in
            try resolved.open.repeating { () throws(StorageError) in
                try value.attributed().map { ($0.value, $0.attributes) }
            }
        }
    }
}

// Taking values in.
extension StorageRouter {
    private static let attempts = 4

    private func take(_ value: SnapshotValue, _ key: AnyStorageKey) async throws -> SnapshotOutcome {
        let resolved = try await resolve(KeyReference(key))
        if let refusal = resolved.refusal { throw refusal }
        if let expires = value.attributes.expires, expires <= Ledger.now { return .unchanged }
        let synced = SyncedKey(key: key, resolved: resolved)
        guard synced.canUse(value.data, value.attributes) else {
            try await keepEarly(value, synced)
            return .kept
        }
        // Older data of this device is a value, too.
        _ = try await settled(key)
        let arrival = try SnapshotArrival(of: resolved)
        let attributes = resolved.attributes == nil ? nil : synced.kept(value.attributes)
        for _ in 0..<Self.attempts {
            var views: [AtomicScope: StoreView] = [:]
            if let stored = try await resolved.stored(&views) {
                let data = try await resolved.opened(stored)
                let here = try await resolved.storedAttributes() ?? ValueAttributes()
                if data == value.data, here.versionTag == value.attributes.versionTag { return .unchanged }
                if let time = try await arrival.time(of: data, here), time >= value.time { return .unchanged }
            }
            let place = try resolved.writing(attributes)
            let changes = [
                BatchChange(place, value: try await place.sealedValue(), data: value.data),
                try await arrival.recording(value),
            ]
            guard try await engine().access.apply(changes, views: Array(views.values)) else { continue }
            await note(resolved, key.descriptor)
            if let modified = try? await resolved.storedAttributes()?.modified,
                let change = try? await arrival.noting(modified)
            {
                _ = try? await engine().access.apply([change])
            }
            return .stored
        }
        throw StorageError(.busy, "'\(resolved.address)' was changed again and again", hint: "try again")
    }

    /// Keeps a value that this program cannot read, in place of an older one.
    private func keepEarly(_ value: SnapshotValue, _ synced: SyncedKey) async throws {
        let early = Quarantine(access: try await access(), kind: .early)
        let known = try await early.waiting(for: synced.key, in: synced.resolved.open)
        guard known.allSatisfy({ $0.record.written ?? 0 < value.time }) else { return }
        try await early.keep(
            value.data, synced.kept(value.attributes), written: value.time, of: synced.key, synced.resolved,
            insteadOf: known)
    }

    /// Takes in what an earlier program has kept and this one reads. What fails stays, and is logged.
    func takeEarly(_ snapshot: RouterSnapshot) async {
        for key in await eligibleKeys(snapshot) {
            do { try await takeEarly(key) } catch {
                let reason = StorageError(wrapping: error).message
                snapshot.log(.warning, "sync", "'\(key.address)' of a snapshot stays as it was kept: \(reason)")
            }
        }
    }

    private func takeEarly(_ key: AnyStorageKey) async throws {
        let early = Quarantine(access: try await access(), kind: .early)
        let resolved = try await resolve(KeyReference(key))
        for item in try await early.waiting(for: key, in: resolved.open) {
            let value = SnapshotValue(
                address: "\(resolved.address)", data: try await early.value(of: item),
                attributes: item.record.attributes, time: item.record.written ?? item.record.date)
            guard SyncedKey(key: key, resolved: resolved).canUse(value.data, value.attributes) else { continue }
            _ = try await take(value, key)
            try await early.drop(item)
        }
    }

    /// The keys whose values take part in sync here: those of catalogs, and where the app has registered none, those
    /// that migration packs know.
    func eligibleKeys(_ snapshot: RouterSnapshot) async -> [AnyStorageKey] {
        var keys = (snapshot.catalog ?? snapshot.described).entries
        if snapshot.catalog == nil, !snapshot.packs.isEmpty {
            do { try await engine(snapshot).loadPacks() } catch {
                snapshot.log(.warning, "sync", "keys of migration packs do not take part: \(error)")
            }
            for migration in migrationRegistry.migrations where migration.pack != nil {
                let key = migration.destinationKey
                guard let place = try? snapshot.settings.place(of: key.descriptor.domain) else { continue }
                let address = StorageAddress(place, name: key.descriptor.name)
                if keys[address] == nil { keys[address] = key }
            }
        }
        return keys.values.filter {
            $0.descriptor.syncPolicy != .never && $0.descriptor.availability.isAvailable(on: snapshot.settings.role)
        }
    }
}
