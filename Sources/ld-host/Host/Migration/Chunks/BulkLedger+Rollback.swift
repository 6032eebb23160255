internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostStores
internal import LocalDataAPI

/// Undoes a bulk migration: a chunk at a time, the last first. A source that was moved as it was is put back from its
/// destination; one that became something else, and what was replaced, from their images.
extension BulkLedger {
    /// - Throws: `validationFailed` if there is nothing to undo, or a value is not as the migration left it: then
    ///   nothing is done. What a store reports: then some chunks are undone, and the others can be.
    func rollback(_ report: (StepProgress) -> Void) throws {
        let page = try ledger.page()
        let row = page[migration.id]
        guard row?.state != .rolledBack else {
            throw MigrationError(.validationFailed, "the migration '\(migration.id)' has been rolled back already")
        }
        guard let row, let progress = row.bulk, grace > 0, row.state == .clean || row.state == .published,
            progress.firstRecord < progress.chunks
        else {
            throw MigrationError(
                .validationFailed,
                "the migration '\(migration.id)' has moved nothing, or the values that it replaced are no longer kept")
        }
        var entry = LedgerEntry(ledger: ledger, page: page, row: row)
        let isResumed = progress.isUndone == true
        // What others keep changing stays; that keeps nothing else from being undone.
        if !isResumed { try resume(&entry) }
        // Those that stayed have a place in a chunk, too.
        let total = progress.moved + progress.kept + progress.left
        var done = 0
        for number in progress.firstRecord..<progress.chunks {
            // What was changed in a chunk that is undone in part stays as it is.
            let isBegun = isResumed && number == progress.chunks - 1
            done += try isBegun ? keptRecord(number).items.count : check(number)
            report(StepProgress(step: "checking", done: done, total: max(done, total)))
        }
        let checked = done
        if !isResumed {
            entry.row.bulk?.isUndone = true
            entry.row.state = .published
            try entry.commit()
        }
        for number in (progress.firstRecord..<progress.chunks).reversed() {
            done -= try undo(number, &entry)
            report(StepProgress(step: "putting back", done: checked - done, total: checked))
        }
    }

    /// Completes the chunk at which a rollback was interrupted, so that each value is at one of its two names again;
    /// the migration can run from there.
    func completeUndoing(_ entry: inout LedgerEntry) throws {
        guard let progress = entry.row.bulk, progress.isUndone == true else { return }
        entry.row.bulk?.isUndone = nil
        _ = try undo(progress.chunks - 1, &entry)
    }

    /// Puts a chunk's sources back, and then takes away what it wrote.
    ///
    /// - Returns: How many values the chunk has.
    private func undo(_ number: Int, _ entry: inout LedgerEntry) throws -> Int {
        let record = try keptRecord(number)
        try restore(number, record)
        let view = try StoreView(destination.scope)
        let changes = try withdrawing(number, record, view)
        entry.row.bulk?.undo(record, number)
        entry.row.state = .published
        if number == entry.row.bulk?.firstRecord {
            entry.row.state = .rolledBack
            entry.row.expires = nil
            entry.row.bulk = BulkProgress(migration)
        }
        guard try entry.commit(with: changes, views: [view]) else {
            throw MigrationError(
                .validationFailed, "a value of '\(migration.destination)' was changed meanwhile; try again")
        }
        return record.items.count
    }

    /// Gives up what is kept to undo the migration.
    func confirm() throws {
        let page = try ledger.page()
        guard let row = page[migration.id], row.bulk != nil, row.state == .clean else {
            throw MigrationError(.validationFailed, "the migration '\(migration.id)' is not complete")
        }
        var entry = LedgerEntry(ledger: ledger, page: page, row: row)
        try expire(&entry)
    }

    /// Throws unless every value of a chunk is as the migration left it.
    ///
    /// - Returns: How many values the chunk has.
    private func check(_ number: Int) throws -> Int {
        let record = try keptRecord(number)
        if record.isLarge, let item = record.items.first {
            guard try isGone(item, record) || checkUndoingLarge(item, number) else {
                throw changed(try destination(of: item))
            }
            return 1
        }
        for (index, item) in record.items.enumerated() {
            let (source, destination) = (try source(of: item), try destination(of: item))
            if !item.flags.contains(.isLeft) {
                // It may have been put back by a run that was interrupted.
                if let stored = try source.readStored() {
                    guard try source.opening(stored) == former(item, number, index) else { throw changed(source) }
                } else if item.flags.contains(.isChanged), try !isGone(item, record) {
                    _ = try former(item, number, index)
                }
            }
            if item.flags.contains(.isDropped) { continue }
            guard try isGone(item, record) || isAsLeft(item, destination.readStored()) else {
                throw changed(destination)
            }
            if item.flags.contains(.isReplaced) { _ = try restoring(destination, item, number, index) }
        }
        return record.items.count
    }

    /// Puts a chunk's sources back. One that has a value keeps it.
    private func restore(_ number: Int, _ record: BulkRecord) throws {
        if record.isLarge, let item = record.items.first {
            return try undoLarge(item, number, record)
        }
        let view = try StoreView(source.scope)
        var restored: [(key: ResolvedKey, data: Data)] = []
        for (index, item) in record.items.enumerated() where !item.flags.contains(.isLeft) {
            let source = try self.source(of: item)
            guard try view.read(source) == nil, try !isGone(item, record) else { continue }
            // Someone has removed the source that was put back, and set or removed the destination.
            if !item.flags.contains(.isChanged), try !isAsLeft(item, destination(of: item).readStored()) { continue }
            let key = try self.source(of: item, record.attributes[item.attributes])
            restored.append((key, try former(item, number, index)))
        }
        let changes = restored.map { $0.key.changing(to: $0.data) }
        guard try ledger.apply(changes, views: [view]) else {
            throw MigrationError(.validationFailed, "a value of '\(migration.source)' was changed meanwhile; try again")
        }
        for (key, data) in restored {
            guard let stored = try key.readStored(), try key.opening(stored) == data else { throw changed(key) }
        }
    }

    /// Whether a value has expired since the migration moved it, so that there is nothing to put back.
    func isGone(_ item: BulkRecord.Item, _ record: BulkRecord) throws -> Bool {
        guard let expires = record.attributes[item.attributes]?.expires, expires <= Ledger.now else { return false }
        return try item.flags.contains(.isDropped) || !destination(of: item).isStored()
    }

    /// Whether a destination has what the migration left there.
    private func isAsLeft(_ item: BulkRecord.Item, _ stored: Data?) throws -> Bool {
        guard let stored else { return false }
        return try StableHash.of(destination(of: item).opening(stored)) == item.destination
    }

    /// The old value of a source.
    private func former(_ item: BulkRecord.Item, _ number: Int, _ index: Int) throws -> Data {
        let source = try source(of: item)
        let isChanged = item.flags.contains(.isChanged)
        let from = isChanged ? try image(.source, of: source, number, index) : try destination(of: item)
        // One that is sealed does not open if it is damaged.
        let hash = isChanged && source.layers.isEmpty ? item.source : nil
        guard let data = try from.readImage(of: source.address, by: migration.id, expecting: hash) else {
            throw gone(source)
        }
        return data
    }

    /// The change that gives a destination its old value.
    private func restoring(
        _ destination: ResolvedKey, _ item: BulkRecord.Item, _ number: Int, _ index: Int
    ) throws -> BatchChange {
        let image = try image(.destination, of: destination, number, index)
        let change = try destination.restoring(from: image, by: migration.id, expecting: item.replaced)
        guard let change else { throw gone(destination) }
        return change
    }

    /// The changes that take away what a chunk wrote, unless someone has changed it since, with all that is kept of it.
    private func withdrawing(_ number: Int, _ record: BulkRecord, _ view: StoreView) throws -> [BatchChange] {
        var changes: [BatchChange] = []
        for (index, item) in record.items.enumerated() where !item.flags.contains(.isDropped) {
            let destination = try destination(of: item)
            if item.flags.contains(.isLarge) {
                if try isLargeToGo(item, destination) { changes.append(destination.changing(to: nil)) }
                continue
            }
            let isReplaced = item.flags.contains(.isReplaced)
            guard try isAsLeft(item, view.read(destination)) || isReplaced && isGone(item, record) else { continue }
            changes.append(
                isReplaced
                    ? try restoring(destination, item, number, index) : destination.changing(to: nil))
        }
        return try changes + dropping(number)
    }

    private func keptRecord(_ number: Int) throws -> BulkRecord {
        guard let record = try record(number) else {
            throw MigrationError(
                .validationFailed, "the values that the migration '\(migration.id)' has moved are no longer kept")
        }
        return record
    }

    private func changed(_ key: ResolvedKey) -> MigrationError {
        MigrationError(
            .validationFailed,
            "'\(key.address)' has changed since the migration '\(migration.id)', so it is not undone")
    }

    private func gone(_ key: ResolvedKey) -> MigrationError {
        MigrationError(
            .validationFailed, "the value of '\(key.address)' before the migration '\(migration.id)' is no longer kept")
    }
}
