package import FoundationEssentials
internal import HostGround
internal import HostPlugins
package import HostSealing
package import LocalDataAPI

/// A batch whose changes arrive one by one, more of them than memory has room for. It takes effect as a
/// ``StagedBatch`` does, but for this: each staged record says where its value belongs, and the journal has only their
/// number. Every call may wait.
package final class StreamedBatch {
    /// The changes in one scope.
    private final class Group {
        let scope: AtomicScope
        let place: StagedPlace
        var count = 0
        var changes: [StorageChange<StoreHandle>] = []
        var handles: [HeldHandle] = []
        var bytes = 0

        init(_ scope: AtomicScope, _ batch: IntentID) {
            self.scope = scope
            place = StagedPlace(batch, in: scope)
        }

        /// Stages the changes that were collected.
        func flush() throws(StorageError) {
            guard !changes.isEmpty else { return }
            try withExtendedLifetime(handles) { () throws(StorageError) in try scope.open.apply(changes) }
            (changes, handles, bytes) = ([], [], 0)
        }
    }

    /// The most changes, and the bytes of all but the last, that are staged at once.
    private static let mostChanges = 1024
    private static let mostBytes = 4 << 20

    private let snapshot: RouterSnapshot
    private let intent: Intent
    private let groups: [AtomicScope: Group]
    private let most: [(scope: AtomicScope, count: Int)]

    /// Runs a batch, all or none.
    ///
    /// - Parameters:
    ///   - most: The scopes of its changes, and how many each can have at most.
    ///   - keychain: The name of the keychain domain's store.
    ///   - body: Adds the changes; if it throws, nothing has changed.
    ///   - progress: Called with the number of changes that are in place.
    /// - Throws: What `body` throws, and the error of a failed step: then nothing has changed. `durabilityUnknown` if
    ///   the batch is decided but not completely in place.
    package static func run(
        _ snapshot: RouterSnapshot, most: [AtomicScope: Int], _ body: (StreamedBatch) throws(StorageError) -> Void,
        progress: (Int) -> Void
    ) throws(StorageError) {
        let lock = StagedBatch.lock(snapshot)
        let before = try lock.exclusive { (file) throws(StorageError) in try file.number() }
        let batch = try StreamedBatch(snapshot, most)
        var isDeciding = false
        do throws(StorageError) {
            // Others decide their batches meanwhile: staging takes long.
            try body(batch)
            try lock.exclusive { (file) throws(StorageError) in
                if try file.number() != before { try batch.followOthers() }
                try StagedBatch.noteDecision(file)
                isDeciding = true
                try batch.decide()
                do throws(StorageError) { try batch.publish(progress) } catch { throw StagedBatch.unfinished(error) }
            }
        } catch {
            if !isDeciding { batch.clear() }
            throw error
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

    private init(_ snapshot: RouterSnapshot, _ most: [AtomicScope: Int]) throws(StorageError) {
        self.snapshot = snapshot
        self.most = most.map { ($0.key, $0.value) }.sorted {
            ($0.scope.open.name, $0.scope.directory ?? "") < ($1.scope.open.name, $1.scope.directory ?? "")
        }
        let entry = BatchIntent(staged: self.most, isDecided: false)
        AbandonedBatch.warn(of: self.most.map(\.scope), snapshot)
        let intent = try BatchIntent.journal(snapshot.settings).begin(
            kind: BatchIntent.kind, subject: entry.subject, payload: entry.encoded())
        self.intent = intent
        groups = most.reduce(into: [:]) { $0[$1.key] = Group($1.key, intent.id) }
    }

    private func group(_ scope: AtomicScope) throws(StorageError) -> Group {
        if let group = groups[scope] { return group }
        throw StorageError(.unknown, "a batch changes store '\(scope.open.name)', which it did not announce")
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
        group.changes.append(StorageChange(key: handle.handle, value: bytes, attributes: attributes))
        group.handles.append(handle)
        group.count += 1
        group.bytes += bytes.count
        let all = groups.values.reduce(0) { $0 + $1.bytes }
        if group.changes.count >= Self.mostChanges { try group.flush() }
        if all >= Self.mostBytes { for group in groups.values { try group.flush() } }
    }

    /// Marks the entry as decided: from then on the changes take effect even after a crash.
    private func decide() throws(StorageError) {
        var isStaged = false
        do throws(StorageError) {
            for (scope, _) in most { try groups[scope]?.flush() }
            let staged = most.map { ($0.scope, groups[$0.scope]?.count ?? 0) }
            let entry = try BatchIntent(staged: staged, isDecided: true).encoded()
            isStaged = true
            try intent.update(payload: entry)
        } catch {
            guard error.code != .durabilityUnknown || !isStaged else { throw StagedBatch.unfinished(error) }
            clear()
            throw error
        }
    }

    private func publish(_ progress: (Int) -> Void) throws(StorageError) {
        var done = 0
        for (scope, _) in most {
            guard let group = groups[scope] else { continue }
            try group.place.publishRecorded(group.count) { progress(done + $0) }
            done += group.count
        }
        try intent.finish()
    }

    /// If something cannot be discarded here, the recovery of the entry does it.
    private func clear() {
        do throws(StorageError) {
            for (scope, count) in most { try groups[scope]?.place.clearRecorded(atMost: count) }
            try intent.finish()
        } catch {
            snapshot.log(.warning, "batch", "the staged values of \(intent.subject) are still there: \(error.message)")
        }
    }
}
