internal import FoundationEssentials
internal import HostGround
internal import HostMigration
internal import HostPlugins
internal import HostStores
internal import HostSync
internal import LocalDataAPI
internal import Synchronization

/// The values of the keys that take part in sync, in the stores that the configuration maps their domains to.
///
/// A key's entry, and a record that is kept aside, lie in the store of its value, so that they change as one with it;
/// those of keys that this device does not know lie in the home store, with ``progress()``. A lost value is kept in
/// quarantine, sealed as the value is. Calls may wait.
final class RouterReplica: SyncReplica {
    let keys: [SyncKey]
    /// Those of ``keys``, with their stores.
    let syncedKeys: [SyncedKey]
    private let migrations: MigrationEngine
    var snapshot: RouterSnapshot { migrations.snapshot }
    let home: OpenStore
    let group: MemberGroup
    let byAddress: [ExactText: SyncedKey]
    private(set) lazy var groups = keyGroups()
    /// The stores of known entries, by the entries' names.
    var stores: [String: OpenStore] = [:]
    /// What is known of the stores, and what of it is saved.
    var (known, saved) = (SyncedStores(), SyncedStores())
    /// Whether a store has less than was synced, and progress does not say so yet: until then the stores' numbers stay
    /// low, so that the next process finds it, too.
    var isOutdated = false
    /// Domains that a store serves again after another one did.
    var returned: Set<String> = []
    /// Milliseconds since 1970 UTC.
    let now: @Sendable () -> UInt64

    /// - Parameters:
    ///   - home: A store whose values outlive the process.
    ///   - now: Milliseconds since 1970 UTC.
    init(
        _ keys: [SyncedKey], home: OpenStore, of group: MemberGroup, _ migrations: MigrationEngine,
        now: @escaping @Sendable () -> UInt64
    ) {
        var byAddress: [ExactText: SyncedKey] = [:]
        byAddress.reserveCapacity(keys.count)
        syncedKeys = keys.filter { key in
            guard byAddress[ExactText(key.address)] == nil else { return false }
            byAddress[ExactText(key.address)] = key
            return true
        }
        self.byAddress = byAddress
        self.keys = syncedKeys.map {
            SyncKey(address: $0.address, policy: $0.key.descriptor.syncPolicy, hasVersions: $0.key.chain != nil)
        }
        (self.home, self.group, self.now) = (home, group, now)
        var migrations = migrations
        migrations.isOfSync = true
        self.migrations = migrations
    }

    /// The key at an address; `nil` if this device knows none there.
    func key(at address: String) -> SyncedKey? { byAddress[ExactText(address)] }

    func read(_ address: String) throws(StorageError) -> LocalValue? {
        guard let key = key(at: address) else { return nil }
        let value = key.value
        return try key.resolved.open.repeating { () throws(StorageError) in
            if value.store.abilities.conditional != nil {
                return try value.revisioned().map {
                    LocalValue(
                        data: $0.data, attributes: key.kept($0.attributes), mark: $0.revision,
                        written: $0.attributes.writtenAt)
                }
            }
            return try value.attributed().map {
                LocalValue(
                    data: $0.value, attributes: key.kept($0.attributes), mark: nil, written: $0.attributes.writtenAt)
            }
        }
    }

    func formerAddresses(of address: String) -> [String] { key(at: address)?.formerAddresses ?? [] }

    func sourceAddresses(of address: String) -> [String] { key(at: address)?.sourceAddresses ?? [] }

    func origin(of address: String) -> SyncOrigin? { key(at: address)?.origin }

    func sourceWritten(_ address: String) throws(StorageError) -> UInt64? {
        guard let key = key(at: address) else { return nil }
        let time = try? IOExecutor.waiting { [migrations] in
            try await migrations.mayBringData(to: key.key)
                ? migrations.sourceModified(of: key.resolved) : nil
        }
        return ValueAttributes(modified: time ?? nil).writtenAt
    }

    func upgraded(_ value: LocalValue, at address: String) throws(StorageError) -> LocalValue? {
        guard let key = key(at: address), let chain = key.key.chain, value.attributes.versionTag != chain.versionTag,
            key.resolved.attributes != nil, group.log.state.lead?.id == group.me
        else { return nil }
        let (data, tag) = (value.data, value.attributes.versionTag)
        // What cannot be converted stays as it is; reading it says why.
        guard let bytes = try? IOExecutor.waiting(for: { try await chain.convert(data, tag) }) else { return nil }
        var attributes = key.resolved.attributes ?? ValueAttributes()
        (attributes.versionTag, attributes.expires) = (chain.versionTag, value.attributes.expires)
        return LocalValue(data: bytes, attributes: key.kept(attributes), mark: nil)
    }

    func upgrade(_ address: String, from value: LocalValue, to upgraded: LocalValue) throws(StorageError) {
        let converted = ConvertedValue(stored: value.data, current: upgraded.data)
        guard let key = key(at: address), let chain = key.key.chain else { return }
        do {
            _ = try IOExecutor.waiting { [migrations] in
                try await migrations.migrate(chain.migration(converted), onConflict: nil)
            }
        } catch {
            let reason = (error as? MigrationError)?.message ?? "\(error)"
            snapshot.log(.warning, "migration", reason)
        }
    }

    func canUse(_ value: Data, _ attributes: ValueAttributes, at address: String) -> Bool {
        key(at: address)?.canUse(value, attributes) ?? false
    }

    func kept(_ attributes: ValueAttributes, at address: String) -> ValueAttributes {
        key(at: address)?.kept(attributes) ?? attributes
    }

    /// Lets the key merge two values of its current version.
    func merge(
        _ lesser: LocalValue, _ greater: LocalValue, at address: String
    ) throws(StorageError) -> LocalValue? {
        guard let key = key(at: address), let merge = key.key.merge else { return nil }
        let tag = key.key.chain?.versionTag
        guard lesser.attributes.versionTag == tag, greater.attributes.versionTag == tag else { return nil }
        let format = key.key.descriptor.serializer
        func bytes(_ value: LocalValue) -> Data {
            guard format == .json else { return value.data }
            return JSONText.string(value.data, recordedWith: value.attributes) ?? value.data
        }
        do {
            var attributes = greater.attributes
            (attributes.contentType, attributes.serializer) = (format.contentType, format.rawValue)
            return LocalValue(data: try merge(bytes(lesser), bytes(greater)), attributes: attributes, mark: nil)
        } catch {
            let reason = (error as? StorageError)?.message ?? "\(type(of: error))"
            snapshot.log(
                .warning, "sync",
                "'\(address)': the key cannot merge two devices' values, so the later one wins, and the other one is "
                    + "kept: \(reason)")
            return nil
        }
    }

    /// What a store cannot change as one is staged in the journal, and completed after a crash.
    func isAtomic(_ address: String) -> Bool { true }

    func parked(_ name: String) throws(StorageError) -> Data? {
        guard let sealed = try SyncPlace.parked(name, in: stores[name] ?? home).valueNow() else { return nil }
        return try group.openOwn(sealed, name: name)
    }

    func progress() throws(StorageError) -> Data? { try SyncPlace.progress(in: home).valueNow() }
}

// Changes.
extension RouterReplica {
    func commit(_ changes: [SyncChange], progress: Data?) throws(StorageError) -> [Int] {
        var byStore: [ObjectIdentifier: [Int]] = [:]
        for (index, change) in changes.enumerated() {
            byStore[ObjectIdentifier(store(of: change)), default: []].append(index)
        }
        let atHome = byStore.removeValue(forKey: ObjectIdentifier(home))
        var refused: [Int] = []
        for indices in byStore.values { refused += try commitSuperseding(indices, of: changes, progress: nil) }
        let due = refused.isEmpty ? progress : nil
        if let due, atHome == nil, known == saved {
            try SyncPlace.progress(in: home).setNow(due)
        } else if due != nil || atHome != nil {
            refused += try commitSuperseding(atHome ?? [], of: changes, progress: due)
        }
        return refused
    }

    /// Makes the changes of one store, and remembers what they say of the places of keys that have had several.
    private func commitSuperseding(
        _ indices: [Int], of changes: [SyncChange], progress: Data?
    ) throws(StorageError) -> [Int] {
        let refused = try commitWithLedgers(indices, of: changes, progress: progress)
        var made: [(key: SyncedKey, isRemoved: Bool)] = []
        for index in indices where changes[index].changesValue && !refused.contains(index) {
            guard let key = key(at: changes[index].address), !key.formerAddresses.isEmpty else { continue }
            let isRemoved = if case .remove = changes[index].value { true } else { false }
            made.append((key, isRemoved))
        }
        guard !made.isEmpty else { return refused }
        _ = try? IOExecutor.waiting { [migrations, made] in
            await migrations.note(
                made.map { key, isRemoved in
                    (isRemoved ? PlaceEvent.removed : .set, key.key.descriptor, key.resolved.address.place)
                }, isUse: false)
            // What `get` would bring from there is older.
            for (key, isRemoved) in made where isRemoved {
                _ = try? await migrations.removeElsewhere(key.key, key.resolved)
            }
        }
        return refused
    }

    /// Makes the changes of one store, with what the ledgers say of older data that nobody brings any more then.
    private func commitWithLedgers(
        _ indices: [Int], of changes: [SyncChange], progress: Data?
    ) throws(StorageError) -> [Int] {
        var keys: [(key: AnyStorageKey, resolved: ResolvedKey)] = []
        var removes = false
        for change in indices.map({ changes[$0] }) where change.changesValue {
            guard let key = key(at: change.address) else { continue }
            if case .remove = change.value {
                removes = true
            } else if key.resolved.isSettled.load(ordering: .relaxed) {
                continue
            }
            keys.append((key.key, key.resolved))
        }
        guard !keys.isEmpty else { return try commit(indices, of: changes, with: [], progress: progress) }
        // This thread waits until the call has ended.
        nonisolated(unsafe) let replica = self
        let refused: [Int]
        do {
            refused = try IOExecutor.waiting { [migrations, keys, removes] in
                try await replica.commit(
                    indices, of: changes, superseding: keys, removes, migrations, progress: progress)
            }
        } catch let error as StorageError { throw error } catch let error {
            throw StorageError(.corrupt, "what migrations say of values that sync changes: \(error)")
        }
        for (_, resolved) in keys { resolved.isSettled.store(true, ordering: .relaxed) }
        return refused
    }

    private func commit(
        _ indices: [Int], of changes: [SyncChange], superseding keys: [(key: AnyStorageKey, resolved: ResolvedKey)],
        _ removes: Bool, _ migrations: MigrationEngine, progress: Data?
    ) async throws -> [Int] {
        var older: [(key: AnyStorageKey, resolved: ResolvedKey)] = []
        for key in keys where try await migrations.mayBringData(to: key.key) { older.append(key) }
        nonisolated(unsafe) let replica = self
        let refused = Mutex<[Int]>([])
        func run(_ ledgers: [BatchChange]) async throws(StorageError) {
            let result = try await onIOThread { () throws(StorageError) in
                try replica.commit(indices, of: changes, with: ledgers, progress: progress)
            }
            refused.withLock { $0 = result }
        }
        let isDone = try await migrations.superseding(older, loadingPacks: removes) { try await run($0) }
        if !isDone { try await run([]) }
        // A registered catalog has said where its keys are.
        if snapshot.catalog == nil {
            await migrations.note(
                keys.map { (.declared, $0.key.descriptor, $0.resolved.address.place) }, isUse: false)
        }
        return refused.withLock { $0 }
    }

    func store(of change: SyncChange) -> OpenStore {
        key(at: change.address)?.resolved.open ?? home
    }

    /// Makes the changes of one store, all or none but those whose value is another one now.
    ///
    /// - Parameters:
    ///   - others: What is to change with them.
    ///   - progress: How far sync has come then, if all are made.
    private func commit(
        _ indices: [Int], of changes: [SyncChange], with others: [BatchChange], progress: Data?
    ) throws(StorageError) -> [Int] {
        if others.isEmpty, let refused = try commitAtOnce(indices, of: changes, progress: progress) { return refused }
        for _ in 0..<Self.attempts {
            var views: [AtomicScope: StoreView] = [:]
            var (batch, refused) = (others, [Int]())
            for index in indices {
                if try isExpected(changes[index], &views) {
                    batch += try parts(of: changes[index])
                } else {
                    refused.append(index)
                }
            }
            let open = indices.first.map { store(of: changes[$0]) } ?? home
            let number = nextNumber(of: open)
            if open !== home, !batch.isEmpty {
                batch.append(try SyncPlace.changes(in: open).changing(to: Self.encoded(number)))
            }
            let saves = progress != nil && refused.isEmpty
            if saves, let progress { batch += try saving(progress) }
            let run = BatchRun(snapshot: snapshot, changes: batch, views: Array(views.values), progress: {})
            if !batch.isEmpty {
                guard try run.run() else { continue }
                noteChange(in: open, number, savingProgress: saves)
            }
            note(indices, of: changes, but: refused)
            return refused
        }
        throw StorageError(.busy, "values changed again and again while sync changed them", hint: "try again")
    }

    /// Notes where the entries of changes are that were made.
    func note(_ indices: [Int], of changes: [SyncChange], but refused: [Int]) {
        let refused = Set(refused)
        for index in indices where !refused.contains(index) {
            let change = changes[index]
            stores[change.name] = change.entry == nil ? nil : store(of: change)
        }
    }

    /// How often changes are tried whose values others change meanwhile.
    static let attempts = 8

    private func isExpected(
        _ change: SyncChange, _ views: inout [AtomicScope: StoreView]
    ) throws(StorageError) -> Bool {
        guard change.changesValue, let key = key(at: change.address) else { return true }
        let scope = key.resolved.scope
        let view = if let known = views[scope] { known } else { try StoreView(scope) }
        views[scope] = view
        let stored = try view.read(key.resolved)
        let value = try stored.map { (stored) throws(StorageError) in try key.value.open(stored) }
        guard value == change.expected?.data else { return false }
        guard let expected = change.expected else { return true }
        // The same bytes may have been stored again, to expire at another time.
        if let mark = expected.mark { return try key.value.store.revisioned(key.value.handle)?.revision == mark }
        return try key.value.attributes().map(key.kept) == expected.attributes
    }

    /// What is written for a change: entry, value, lost value, and the record that is kept aside.
    private func parts(of change: SyncChange) throws(StorageError) -> [BatchChange] {
        let store = store(of: change)
        var parts = [try SyncPlace.entry(change.name, in: store).changing(to: change.entry?.encoded())]
        if let old = stores[change.name], old !== store {
            // The key was not known before.
            parts.append(try SyncPlace.entry(change.name, in: old).changing(to: nil))
            if case .keep = change.parked, let record = try SyncPlace.parked(change.name, in: old).valueNow() {
                parts.append(try SyncPlace.parked(change.name, in: store).changing(to: record))
            }
            parts.append(try SyncPlace.parked(change.name, in: old).changing(to: nil))
        }
        if let key = key(at: change.address) {
            switch change.value {
            case .keep: break
            case .set(let data, let attributes):
                let attributes = key.resolved.attributes == nil ? nil : attributes
                parts.append(try key.resolved.writing(attributes).changing(to: data))
            case .remove: parts.append(key.resolved.changing(to: nil))
            }
            if let loser = change.loser {
                parts += try Quarantine(access: StoreAccess(snapshot: snapshot), kind: .conflict).changes(
                    keeping: loser.data, loser.attributes, of: key.key, key.resolved,
                    reason: reason(of: loser))
            }
        }
        switch change.parked {
        case .keep: break
        case .set(let data):
            let sealed = try group.seal(data, name: change.name)
            parts.append(try SyncPlace.parked(change.name, in: store).changing(to: sealed))
        case .discard: parts.append(try SyncPlace.parked(change.name, in: store).changing(to: nil))
        }
        return parts
    }

    /// Which of two versions a lost one is, for a person.
    private func reason(of loser: SyncLoser) -> String {
        let written = "written by \(called(loser.version.author))"
        guard let winner = loser.winner else { return "\(written); the group has no value there any more" }
        guard winner.author != loser.version.author else { return "\(written), which has written a later version" }
        return "\(written); it lost to the version of \(called(winner.author))"
    }

    /// A device as `ld-host sync devices` lists it, or by its id.
    private func called(_ device: DeviceID) -> String {
        let name = group.log.state.device(device).map { "'\($0.name)'" } ?? "device \(device)"
        return device == group.me ? "\(name) (this device)" : name
    }
}
