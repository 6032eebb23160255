internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostStores
internal import LocalDataAPI

/// The chunk of a migration of one key. The ledger's row is its record: it lists what the migration wrote and removes.
/// Calls may wait, unless they are `async`.
struct RowChunk: Sendable {
    /// A value that the migration read changed before the commit.
    struct Disturbed: Error {}

    var entry: LedgerEntry
    /// The values of the row's lists, in their order.
    var written: [ResolvedKey] = []
    var removed: [ResolvedKey] = []
    private var writes: [ChunkWrite] = []

    /// A chunk that is not published.
    init(_ row: LedgerRow, in page: LedgerPage, of ledger: Ledger) {
        entry = LedgerEntry(ledger: ledger, page: page, row: row)
    }

    /// The published chunk of a row.
    init(published row: LedgerRow, in page: LedgerPage, of ledger: Ledger) async throws(StorageError) {
        self.init(row, in: page, of: ledger)
        for change in row.written { written.append(try await ledger.access.key(of: change)) }
        for change in row.removed { removed.append(try await ledger.access.key(of: change)) }
    }

    var ledger: Ledger { entry.ledger }
    var row: LedgerRow { entry.row }
    var page: LedgerPage { entry.page }
    var keys: [ResolvedKey] { written + removed }

    /// Gets the key material of the app's providers, for calls that may wait. Removing a source needs only its own.
    mutating func unlock(onlySources: Bool) async throws(StorageError) {
        for index in removed.indices { removed[index] = try await removed[index].unlocked() }
        for index in written.indices where !onlySources { written[index] = try await written[index].unlocked() }
    }

    /// Writes the new values, the images of what they replace and the row, in one step. Without changes, there is no
    /// row.
    ///
    /// - Parameters:
    ///   - entries: What the migration has changed.
    ///   - views: The views that this is based on.
    ///   - former: The changes that make way for the row.
    /// - Throws: ``Disturbed`` if a value has changed since; then nothing has been done.
    mutating func publish(
        _ entries: [MigrationTransaction.Entry], basedOn views: [StoreView], dataVersion: String?,
        replacing former: [BatchChange]
    ) throws {
        // The version of a container is no value that the step moves.
        let entries = MigrationTransaction.Entry.settlingOrigins(
            entries, new: row.origin == .container ? ledger.address : nil)
        for changed in entries {
            switch changed.change {
            case nil, .copy: continue
            case .removal:
                // Of a large one, the transaction has no bytes.
                let mark = try changed.isStored ? changed.mark ?? changed.resolved.readMark() : nil
                guard let mark else { continue }
                entry.row.removed.append(LedgerRow.Change(changed.key, mark: mark))
                removed.append(changed.resolved)
            case .set(let data): try add(data, changed, among: entries, dataVersion)
            }
        }
        guard !row.changes.isEmpty else { return }
        if isDoneAtOnce { finish(&entry.row) }
        guard try entry.commit(with: ChunkWrite.changes(writes) + former, views: views) else { throw Disturbed() }
    }

    private mutating func add(
        _ data: Data, _ changed: MigrationTransaction.Entry, among entries: [MigrationTransaction.Entry],
        _ dataVersion: String?
    ) throws {
        var change = LedgerRow.Change(changed.key, mark: changed.mark)
        var image: BatchChange?
        if let stored = changed.stored {
            if try changed.resolved.opening(stored) == data, try !changed.isRecordedAnew() { return }
            image = try ledger.image(of: changed.resolved, stored)
            change.keep(in: image)
        }
        // What a seal makes of it is known when it is read back.
        if changed.resolved.layers.isEmpty { change.after = StableHash.of(data) }
        let target = try changed.target(among: entries).writing(dataVersion: dataVersion)
        change.afterExpires = target.attributes?.expires
        let witness = try ledger.witness(of: data, at: target)
        change.witness = witness?.name
        entry.row.written.append(change)
        written.append(target)
        writes.append(ChunkWrite(key: target, data: data, image: image, witness: witness?.change))
    }

    /// Whether nothing remains once the new values are written: there is nothing to remove, and what was written is
    /// known. A program that ends then leaves no row that nobody finishes, for reads of a value that has its type's
    /// current version do not look at the ledger.
    private var isDoneAtOnce: Bool {
        row.removed.isEmpty && row.written.allSatisfy { $0.after != nil && $0.witness == nil }
    }

    private func finish(_ row: inout LedgerRow) {
        row.state = .clean
        row.expires = row.changes.contains { $0.image != nil } ? ledger.expiry : nil
    }

    /// Reads the new values back.
    ///
    /// - Throws: `validationFailed` naming one that is not as it was written. The row says so, and the sources stay.
    mutating func verify() throws {
        for (index, write) in writes.enumerated() {
            let stored = try write.key.readStored()
            guard let stored, try write.isEqual(to: stored) else {
                throw try entry.unverified(write.key.address, write.key.open, "; the sources are as they were")
            }
            entry.row.written[index].after = StableHash.of(stored)
        }
    }

    /// Removes the old values that are unchanged and records that, in one step.
    ///
    /// - Throws: The reason why it cannot be done. Then nothing is removed, and the call can be repeated.
    mutating func clean() throws {
        if row.state == .copying { return try finishCopy() }
        try verifyResumed()
        for _ in 0..<MoveLimits.attempts where try removeSources() { return }
        throw StorageError(.busy, "the old values of the migration '\(row.id)' kept changing", hint: "try again")
    }

    /// Reads back the sealed values of a run that ended before it did so: one that does not open keeps its sources.
    private mutating func verifyResumed() throws(StorageError) {
        for (index, key) in written.enumerated() where row.written[index].after == nil {
            guard let stored = try key.readStored() else { continue }
            let data = try key.opening(stored)
            // Of a value that others have changed since, it stays unknown what the migration wrote.
            let change = row.written[index]
            let isOwn = if change.witness == nil { true } else { try ledger.knows(data, at: key, change) }
            guard isOwn else { continue }
            entry.row.written[index].after = StableHash.of(stored)
        }
    }

    /// Whether the values to remove are unchanged.
    private mutating func removeSources() throws(StorageError) -> Bool {
        var next = entry
        var changes: [BatchChange] = []
        var views: [AtomicScope: StoreView] = [:]
        for (index, key) in removed.enumerated() {
            guard let stored = try key.readStored(&views) else { continue }
            guard StableHash.of(stored) == row.removed[index].before else {
                next.row.removed[index].isLeft = true
                continue
            }
            try requireSettled(key)
            if let image = try ledger.image(of: key, stored) {
                changes.append(image)
                next.row.removed[index].keep(in: image)
            }
            changes.append(key.changing(to: nil))
        }
        if ledger.grace == 0 { changes += try dropWitnesses(of: &next.row) }
        finish(&next.row)
        guard try next.commit(with: changes, views: Array(views.values)) else { return false }
        entry = next
        return true
    }

    /// The changes that remove the hashes of what was written, which nothing is undone by.
    private func dropWitnesses(of next: inout LedgerRow) throws(StorageError) -> [BatchChange] {
        var changes: [BatchChange] = []
        for (index, key) in written.enumerated() {
            guard let name = next.written[index].witness else { continue }
            changes.append(try LedgerPlace.image(name, of: key, nil).changing(to: nil))
            next.written[index].witness = nil
        }
        return changes
    }

    /// If one migration continues another one's data, the later one removes last. Without that data, the earlier one
    /// would count as not run, and would migrate its sources again.
    ///
    /// - Throws: `busy` if another migration wrote the value, and its old values are not removed yet.
    func requireSettled(_ key: ResolvedKey) throws(StorageError) {
        let there = "\(key.address)" == page.address ? page : try Ledger(ledger.access, of: key).page()
        guard
            let other = there.rows.first(where: {
                $0.id != row.id && ($0.state == .published || $0.state == .copying)
            })
        else { return }
        throw StorageError(
            .busy,
            "'\(key.address)' was written by the migration '\(other.id)', whose old values are not removed yet",
            hint: "run that migration again")
    }

    /// Wipes the locations of moved values from the files of a less protected store. Values that a rollback needs stay
    /// until they expire; the row lists them, and what cannot be wiped yet.
    fileprivate mutating func wipe() {
        guard row.state == .clean, row.bulk == nil, !written.isEmpty, written.allSatisfy(\.isProtected) else { return }
        let exposed = zip(row.removed, removed).filter {
            $0.isLeft != true && !$1.isProtected && !$1.open.isGoneWithProcess
        }
        do throws(StorageError) {
            try entry.wipe(
                exposed.filter { $0.0.image == nil }.map { ($1.store, $1.address.place, $0.address) },
                besides: exposed.filter { $0.0.image != nil }.map(\.0.address))
        } catch {
            // The ledger lists more locations than remain, or fewer. The next run corrects it.
            ledger.snapshot.log(
                .warning, "migration",
                "values that '\(row.id)' has moved from a less protected location are still in its files, or the "
                    + "ledger does not record that they are gone: \(error.message)")
        }
    }
}

/// The same for tasks.
extension Ledger {
    /// Whether all values that a migration wrote are at their destinations.
    func hasCome(_ row: LedgerRow) async throws -> Bool {
        switch row.state {
        case .published:
            for change in row.written where try await !access.key(of: change).exists() { return false }
            return true
        case .copying:
            let chunk = try await RowChunk(published: row, in: LedgerPage(of: address), of: self)
            return try await onIOThread { () throws(StorageError) in try chunk.hasCopy() }
        default: return false
        }
    }

    /// Removes the old values of a migration; see ``RowChunk/clean()``.
    func clean(_ row: LedgerRow, in page: inout LedgerPage) async throws {
        var chunk = try await RowChunk(published: row, in: page, of: self)
        let isVerified = row.state != .copying && row.written.allSatisfy { $0.after != nil }
        try await chunk.unlock(onlySources: isVerified)
        try await step(&chunk, with: row.state == .copying ? nil : chunk.keys) { try $0.clean() }
        await wipe(&chunk)
        page = chunk.page
    }

    /// Wipes the locations that a migration has moved values from.
    func wipe(_ id: String, in page: inout LedgerPage) async {
        guard let row = page[id], var chunk = try? await RowChunk(published: row, in: page, of: self) else { return }
        await wipe(&chunk)
        page = chunk.page
    }

    private func wipe(_ chunk: inout RowChunk) async {
        try? await step(&chunk, with: nil) { $0.wipe() }
    }

    /// Logs that old values are still there after a migration has brought its data.
    func logPending(_ id: String, _ error: any Error) {
        snapshot.log(
            .warning, "migration",
            "'\(id)' has migrated its data, but an old value is still there: \(StorageError(wrapping: error).message)")
    }
}
