package import FoundationEssentials
package import HostGround
internal import HostPlugins
package import HostSealing
package import LocalDataAPI

/// A batch that no store can apply in one step. The order of steps makes it atomic: write the journal's entry, stage
/// the changes beside the values, mark the entry as decided, put the changes in place, remove the entry. Each staged
/// record says where its value belongs, so memory need not have room for all changes. Every call may wait.
package final class StagedBatch {
    /// The changes in one scope.
    private final class Group {
        let scope: AtomicScope
        let place: StagedPlace
        var count = 0
        var changes: [StorageChange<StoreHandle>] = []
        var handles: [HeldHandle] = []
        var bytes = 0
        /// One address of each domain.
        private(set) var samples: [StorageAddress] = []

        init(_ scope: AtomicScope, _ batch: IntentID) {
            self.scope = scope
            place = StagedPlace(batch, in: scope)
        }

        func note(_ address: StorageAddress) {
            if !samples.contains(where: { $0.place.domain == address.place.domain }) { samples.append(address) }
        }

        /// Stages the changes that were collected.
        func flush() throws(StorageError) {
            guard !changes.isEmpty else { return }
            try withExtendedLifetime(handles) { () throws(StorageError) in try scope.open.apply(changes) }
            (changes, handles, bytes) = ([], [], 0)
        }
    }

    private let snapshot: RouterSnapshot
    let intent: Intent
    private let groups: [AtomicScope: Group]
    private let most: [(scope: AtomicScope, count: Int)]

    /// Runs a batch, all or none.
    ///
    /// - Parameter views: The views that the changes are based on.
    /// - Returns: Whether the views were still current; if not, nothing has changed.
    /// - Throws: The error of a failed step; then nothing has changed. `durabilityUnknown` if the batch is decided but
    ///   not completely in place.
    @discardableResult
    static func run(
        _ snapshot: RouterSnapshot, _ groups: [StagedGroup], views: [StoreView] = []
    ) throws(StorageError) -> Bool {
        let parts = groups.map { (store: $0.scope.open.store, addresses: $0.addresses) }
        return try together(parts[...]) { () throws(StorageError) in
            try lock(snapshot).exclusive { (file) throws(StorageError) in
                try noteDecision(file)
                guard let batch = try decided(snapshot, groups, views) else { return false }
                do throws(StorageError) { try batch.publish { _ in } } catch { throw unfinished(error) }
                return true
            }
        }
    }

    /// Stages the changes of a batch.
    static func staged(_ snapshot: RouterSnapshot, _ groups: [StagedGroup]) throws(StorageError) -> StagedBatch {
        let most = Dictionary(uniqueKeysWithValues: groups.map { ($0.scope, $0.changes.count) })
        let batch = try StagedBatch(snapshot, most, isExact: true)
        do throws(StorageError) {
            for group in groups { try batch.add(group) }
            try batch.flush()
        } catch {
            batch.clear()
            throw error
        }
        return batch
    }

    /// Stages the changes and marks the entry as decided; `nil` if a view is no longer current.
    static func decided(
        _ snapshot: RouterSnapshot, _ groups: [StagedGroup], _ views: [StoreView]
    ) throws(StorageError) -> StagedBatch? {
        let batch = try staged(snapshot, groups)
        do throws(StorageError) {
            // A process that changes one of the values after the staging comes after the batch; this finds earlier
            // changes.
            for view in views where try !view.holds() {
                batch.clear()
                return nil
            }
        } catch {
            batch.clear()
            throw error
        }
        try batch.decide()
        return batch
    }

    /// Runs a batch whose changes arrive one by one, all or none.
    ///
    /// - Parameters:
    ///   - most: The scopes of its changes, and how many each can have at most.
    ///   - body: Adds the changes; if it throws, nothing has changed.
    ///   - progress: Called with the number of changes that are in place.
    /// - Throws: What `body` throws, and the error of a failed step: then nothing has changed. `durabilityUnknown` if
    ///   the batch is decided but not completely in place.
    package static func run(
        _ snapshot: RouterSnapshot, most: [AtomicScope: Int], _ body: (StagedBatch) throws(StorageError) -> Void,
        progress: (Int) -> Void
    ) throws(StorageError) {
        let lock = Self.lock(snapshot)
        let before = try lock.exclusive { (file) throws(StorageError) in try file.number() }
        let batch = try StagedBatch(snapshot, most, isExact: false)
        var isDeciding = false
        do throws(StorageError) {
            // Others decide their batches meanwhile: staging takes long.
            try body(batch)
            let parts = batch.groups.values.map { (store: $0.scope.open.store, addresses: $0.samples) }
            try Self.together(parts[...]) { () throws(StorageError) in
                try lock.exclusive { (file) throws(StorageError) in
                    if try file.number() != before { try batch.followOthers() }
                    try Self.noteDecision(file)
                    isDeciding = true
                    try batch.decide()
                    do throws(StorageError) { try batch.publish(progress) } catch { throw Self.unfinished(error) }
                }
            }
        } catch {
            if !isDeciding { batch.clear() }
            throw error
        }
    }

    /// Runs `body` while no store is switched: what a batch changes is in place before, or is decided after that.
    private static func together<Result>(
        _ parts: ArraySlice<(store: LoadedStore, addresses: [StorageAddress])>,
        _ body: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        guard let part = parts.first else { return try body() }
        return try part.store.together(part.addresses) { () throws(StorageError) in
            try together(parts.dropFirst(), body)
        }
    }

    /// Lets the changes replace what other batches have put in place since they were staged. Otherwise some of the
    /// values would be of those, and others of this one, which follows them.
    private func followOthers() throws(StorageError) {
        for (scope, _) in most {
            guard let group = groups[scope] else { continue }
            try group.flush()
            try group.place.followOthers(group.count)
        }
    }

    /// - Parameter isExact: Whether there are as many changes as there can be at most.
    private init(
        _ snapshot: RouterSnapshot, _ most: [AtomicScope: Int], isExact: Bool
    ) throws(StorageError) {
        self.snapshot = snapshot
        self.most = most.map { ($0.key, $0.value) }.sorted {
            ($0.scope.open.name, $0.scope.directory ?? "") < ($1.scope.open.name, $1.scope.directory ?? "")
        }
        let entry = BatchIntent(self.most, isDecided: false)
        AbandonedBatch.warn(of: self.most.map(\.scope), snapshot)
        let intent = try BatchIntent.journal(snapshot.settings).begin(
            kind: BatchIntent.kind, subject: entry.subject(isExact: isExact), payload: entry.encoded())
        self.intent = intent
        groups = most.reduce(into: [:]) { $0[$1.key] = Group($1.key, intent.id) }
    }

    private func group(_ scope: AtomicScope) throws(StorageError) -> Group {
        if let group = groups[scope] { return group }
        throw StorageError(.unknown, "a batch changes store '\(scope.open.name)', which it did not announce")
    }

    private func add(_ group: StagedGroup) throws(StorageError) {
        let staged = try self.group(group.scope)
        for (change, address) in zip(group.changes, group.addresses) {
            let replaced = try StagedRecord.hash { () throws(StorageError) in
                try group.open.store.digest(of: change.key)
            }
            // A staged value that has expired would be taken for one that is in place.
            let isExpired = change.attributes?.expires.map { $0 <= Moment.now } ?? false
            let record = StagedRecord(value: isExpired ? nil : change.value, replaced: replaced, address: address)
            try stage(record, isExpired ? nil : change.attributes, in: staged)
        }
    }

    /// Adds a value.
    ///
    /// - Parameter value: The bytes that the store will keep.
    package func add(
        _ value: Data, _ attributes: ValueAttributes?, to target: SealedValue, at address: StorageAddress,
        in open: OpenStore
    ) throws(StorageError) {
        let group = try group(AtomicScope(address.place, in: open))
        let replaced = try StagedRecord.hash(target.storedDigest)
        let record = StagedRecord(value: value, replaced: replaced, address: address)
        try stage(record, attributes, in: group)
    }

    /// Adds a value that is too large for memory.
    ///
    /// - Parameters:
    ///   - attributes: Those that the store keeps.
    ///   - inEnvelope: Those in the envelopes.
    ///   - keys: What the layers of the target seal with.
    ///   - fill: Supplies the value; see ``SealedValue/write(under:attributes:sealing:from:)``.
    package func add(
        large attributes: ValueAttributes?, sealing inEnvelope: ValueAttributes?, to target: SealedValue,
        at address: StorageAddress, in open: OpenStore,
        under keys: [EnvelopeKey], from fill: @escaping (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws(StorageError) {
        let group = try group(AtomicScope(address.place, in: open))
        let replaced = try StagedRecord.hash(target.storedDigest)
        let record = StagedRecord(value: nil, isBeside: true, replaced: replaced, address: address)
        let held = try group.place.besideHandle(group.count)
        let staged = SealedValue(
            store: open.store, handle: held.handle, layers: target.layers, place: nil, owner: held)
        try storageErrors { try staged.write(under: keys, attributes: attributes, sealing: inEnvelope, from: fill) }
        try stage(record, nil, in: group)
    }

    private func stage(
        _ record: StagedRecord, _ attributes: ValueAttributes?, in group: Group
    ) throws(StorageError) {
        let handle = try group.place.handle(group.count)
        let bytes = record.encoded
        group.note(record.address)
        group.changes.append(StorageChange(key: handle.handle, value: bytes, attributes: attributes))
        group.handles.append(handle)
        group.count += 1
        group.bytes += bytes.count
        let all = groups.values.reduce(0) { $0 + $1.bytes }
        if group.changes.count >= MoveLimits.staged { try group.flush() }
        if all >= MoveLimits.bytes { try flush() }
    }

    private func flush() throws(StorageError) {
        for (scope, _) in most { try groups[scope]?.flush() }
    }

    /// Marks the entry as decided: from then on the changes take effect even after a crash.
    private func decide() throws(StorageError) {
        var isStaged = false
        do throws(StorageError) {
            try flush()
            let staged = most.map { ($0.scope, groups[$0.scope]?.count ?? 0) }
            let entry = try BatchIntent(staged, isDecided: true).encoded()
            isStaged = true
            try intent.update(payload: entry)
        } catch {
            guard error.code != .durabilityUnknown || !isStaged else { throw Self.unfinished(error) }
            clear()
            throw error
        }
    }

    private func publish(_ progress: (Int) -> Void) throws(StorageError) {
        var done = 0
        for (scope, _) in most {
            guard let group = groups[scope] else { continue }
            try group.place.publish(group.count) { progress(done + $0) }
            done += group.count
        }
        try intent.finish()
    }

    /// If something cannot be discarded here, the recovery of the entry does it.
    private func clear() {
        do throws(StorageError) {
            for (scope, count) in most { try groups[scope]?.place.clear(atMost: count) }
            try intent.finish()
        } catch {
            snapshot.log(.warning, "batch", "the staged values of \(intent.subject) are still there: \(error.message)")
        }
    }

    /// Lets a batch that stages its changes without the lock notice that another one has changed values since.
    static func noteDecision(_ file: borrowing LockedFile) throws(StorageError) {
        try file.setNumber(try file.number() &+ 1)
    }

    /// Held from the decision until everything is in place: of two batches that change the same values, one completely
    /// follows the other. A process takes the rings before this lock.
    package static func lock(_ snapshot: RouterSnapshot) -> FileLock {
        FileLock("\(snapshot.settings.folders.state)/batch.lock")
    }

    /// The error for a decided batch that could not be completed.
    static func unfinished(_ error: StorageError) -> StorageError {
        StorageError(
            .durabilityUnknown,
            "the batch is decided, but some of its values are not in place yet; a store reported: "
                + error.message,
            hint: "the next program that opens these stores, or the next batch, completes it; see: ld-host doctor")
    }
}
