internal import FoundationEssentials
internal import HostMigration
internal import HostPlugins
internal import HostStores
internal import LocalDataAPI
internal import Synchronization

/// Reading and writing keys with a `DataMigrator`.
extension StorageRouter {
    /// The value of a key with versions, brought to the current one and stored so; `nil` if it is absent.
    func chained<Value>(_ key: StorageKey<Value>, _ chain: ValueChain<Value>) async throws -> Value? {
        if let data = try currentAtOnce(key.slot, chain.versionTag), let value = try? key.serializer.decode(data) {
            return value
        }
        let resolved = try await resolveForReading(key)
        for warning in chain.takeWarnings() { try await snapshot().log(.warning, "migration", warning) }
        if let found = try await resolved.tagged() {
            await noteFound(resolved, .from(key))
            return try await value(of: key, chain, resolved, found)
        }
        if try await putsBack(AnyStorageKey(key), resolved), let found = try await resolved.tagged() {
            return try await value(of: key, chain, resolved, found)
        }
        if try await hasMoved(resolved, { try await resolveForReading(key) }) { return try await chained(key, chain) }
        let engine = try await engine()
        guard try await engine.mayBringData(to: key) else { return nil }
        try await following { try await self.engine().bringData(to: AnyStorageKey(key)) }
        let now = try await resolve(key)
        guard let found = try await now.tagged() else { return nil }
        await noteFound(now, .from(key))
        return try await value(of: key, chain, now, found)
    }

    /// The bytes of a value of the current version, if its store may be called on the caller's thread.
    private func currentAtOnce(_ slot: KeyResolutionSlot, _ versionTag: String) throws -> Data? {
        guard let known = known(slot) else { return nil }
        return try withExtendedLifetime(slot) {
            try known._withUnsafeGuaranteedRef { known -> Data? in
                guard known.readsInline else { return nil }
                do throws(StorageError) {
                    guard let found = try known.open.inline.tagged(known.handle), found.tag == versionTag else {
                        return nil
                    }
                    return found.value
                } catch {
                    // A thread that may wait tries again.
                    if error.code == .busy { return nil }
                    throw known.naming(error)
                }
            }
        }
    }

    /// - Parameter found: What is stored.
    private func value<Value>(
        of key: StorageKey<Value>, _ chain: ValueChain<Value>, _ resolved: ResolvedKey, _ found: TaggedValue
    ) async throws -> Value? {
        do {
            if found.tag == chain.versionTag { return try key.serializer.decode(found.data) }
            return try await upgraded(key, chain, resolved, found)
        } catch  where chain.ifUndecodable == .quarantine && isUndecodable(error) {
            return try await quarantined(key, chain, resolved, found, error)
        } catch let error as StorageError {
            throw StorageError(error.code, "'\(resolved.address)': \(error.message)", hint: error.hint)
        }
    }

    /// Brings a value of another version to the current one.
    private func upgraded<Value>(
        _ key: StorageKey<Value>, _ chain: ValueChain<Value>, _ resolved: ResolvedKey, _ found: TaggedValue
    ) async throws -> Value? {
        let keepsTags = resolved.attributes != nil && !resolved.losesTags.load(ordering: .relaxed)
        if found.tag == nil, !keepsTags || MigrationEngine.isMigrating {
            let current = try await chain.decode(found.data, versionTag: nil)
            if !current.wasMigrated || MigrationEngine.isMigrating { return current.value }
        } else if MigrationEngine.isMigrating {
            return try await chain.decode(found.data, versionTag: found.tag).value
        }
        let migration = ChainMigration(key, chain)
        do {
            _ = try await migrating { try await $0.migrate(AnyStorageMigration(migration), onConflict: nil) }
            // Where no tag stays, each read would bring the value again, and write it.
            if found.tag == nil, keepsTags, let now = try await resolved.tagged(), now.tag == nil {
                resolved.losesTags.store(true, ordering: .relaxed)
            }
            if let value = migration.outcome.value { return value }
        } catch let error as MigrationError where error.code == .storageFailed {
            // What cannot be written now can still be read.
            let value = try await chain.decode(found.data, versionTag: found.tag).value
            try await snapshot().log(.warning, "migration", error.message)
            return value
        }
        // Another caller has brought it.
        guard let now = try await resolved.tagged() else { return nil }
        return try await chain.decode(now.data, versionTag: now.tag).value
    }

    /// Puts a value aside that no version reads; then the key has none. One that was stored meanwhile is read.
    private func quarantined<Value>(
        _ key: StorageKey<Value>, _ chain: ValueChain<Value>, _ resolved: ResolvedKey, _ found: TaggedValue,
        _ reason: any Error
    ) async throws -> Value? {
        let reason = (reason as? MigrationError)?.message ?? (reason as? StorageError)?.message ?? "\(reason)"
        let quarantine = Quarantine(access: try await access())
        let id = try await quarantine.keep(
            AnyStorageKey(key), resolved, unread: found.data, removes: true, reason: reason)
        guard let id else { return try await chained(key, chain) }
        // The next change of the key ends the value's chance to come back.
        resolved.isSettled.store(false, ordering: .relaxed)
        resolved.isPutBack.store(true, ordering: .relaxed)
        try await snapshot().log(
            .error, "migration",
            "'\(resolved.address)' is read by no version, and now in quarantine as '\(id)': \(reason)")
        return nil
    }

    /// Puts a value back that an earlier program has put into quarantine when it read the key, and that this one reads:
    /// tried once, as long as nobody has set or removed the key since.
    ///
    /// - Returns: Whether the key may have a value now.
    private func putsBack(_ key: AnyStorageKey, _ resolved: ResolvedKey) async throws -> Bool {
        guard let chain = key.chain, chain.ifUndecodable == .quarantine, !MigrationEngine.isMigrating,
            !resolved.isPutBack.exchange(true, ordering: .relaxed)
        else { return false }
        let quarantine = Quarantine(access: try await access())
        for item in try await quarantine.waiting(for: key, in: resolved.open).reversed() {
            let data = try await quarantine.value(of: item)
            do throws(MigrationError) { try chain.check(data, item.record.attributes.versionTag) } catch { continue }
            do throws(StorageError) { try await quarantine.restore(item, replaces: false) } catch {
                // Somebody else was faster.
                guard error.code == .busy else { throw error }
                return true
            }
            try await snapshot().log(
                .info, "migration", "'\(resolved.address)' is read again, and no longer in quarantine as '\(item.id)'")
            return true
        }
        return false
    }

    /// From now on, what an earlier program has put into quarantine does not come back by itself: the key was changed.
    func endWaiting(_ key: AnyStorageKey, _ resolved: ResolvedKey) async throws {
        guard key.chain?.ifUndecodable == .quarantine, !resolved.isSettled.load(ordering: .relaxed) else { return }
        try await Quarantine(access: try await access()).endWaiting(for: key, in: resolved.open)
    }

    /// Keeps what the first `set` of a key with versions would lose: a value that no version reads, or that a converter
    /// refuses, goes to quarantine, and one of a later version stays.
    ///
    /// - Throws: `MigrationError`: `newerVersion` for a value of a version that this program does not know, `ambiguous`
    ///   for one that may be of several.
    func keepUnread(_ key: AnyStorageKey, _ resolved: ResolvedKey) async throws {
        guard let chain = key.chain, !resolved.isSettled.load(ordering: .relaxed) else { return }
        try await endWaiting(key, resolved)
        let found: TaggedValue
        do throws(StorageError) {
            guard let stored = try await resolved.tagged() else { return }
            found = stored
        } catch {
            // What is damaged, or sealed with a key that is gone, is replaced as ever.
            guard [.corrupt, .cannotOpen].contains(error.code) else { throw error }
            return
        }
        guard found.tag != chain.versionTag else { return }
        do throws(MigrationError) { _ = try await chain.convert(found.data, found.tag) } catch {
            guard ![.newerVersion, .ambiguous].contains(error.code) else { throw error }
            let quarantine = Quarantine(access: try await access())
            _ = try await quarantine.keep(key, resolved, removes: false, reason: error.message)
        }
    }
}

/// Whether an error says that no version decodes a value, rather than that a converter fails or that the program has to
/// be mended first.
private func isUndecodable(_ error: any Error) -> Bool {
    MigrationError.decodingFailed ~= error || StorageError.deserializationFailed ~= error
}
