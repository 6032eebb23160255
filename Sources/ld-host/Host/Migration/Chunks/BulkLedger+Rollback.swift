internal import ByteCoding
internal import FoundationEssentials
internal import LocalDataAPI

/// Undoes a bulk migration: a chunk at a time, the last first. A source that was moved as it was is put back from its
/// destination; one that became something else, and what was replaced, from their images.
extension BulkLedger {
    /// - Throws: `validationFailed` if there is nothing to undo, or a value is not as the migration left it: then
    ///   nothing is done. What a store reports: then some chunks are undone, and the others can be.
    func rollback(_ report: (StepProgress) -> Void) throws {
        let page = try ledger.page()
        guard let row = page[migration.id], let progress = row.bulk, grace > 0,
            row.state == .clean || row.state == .published, progress.firstRecord < progress.chunks
        else {
            throw MigrationError(
                .validationFailed,
                "the migration '\(migration.id)' has moved nothing, or the values that it replaced are no longer kept")
        }
        // What others keep changing stays; that keeps nothing else from being undone.
        var entry = LedgerEntry(ledger: ledger, page: page, row: row)
        try resume(&entry)
        // Those that stayed have a place in a chunk, too.
        let total = progress.moved + progress.kept + progress.left
        var done = 0
        for number in progress.firstRecord..<progress.chunks {
            done += try check(number)
            report(StepProgress(step: "checking", done: done, total: max(done, total)))
        }
        let checked = done
        for number in (progress.firstRecord..<progress.chunks).reversed() {
            done -= try restore(number)
            report(StepProgress(step: "putting back", done: checked - done, total: checked))
            entry.row.bulk?.chunks = number
            entry.row.bulk?.after = nil
            entry.row.state = .published
            if number == progress.firstRecord {
                entry.row.state = .rolledBack
                entry.row.expires = nil
                entry.row.bulk = BulkProgress(migration)
            }
            try entry.commit(with: withdrawing(number))
        }
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
            guard try checkUndoingLarge(item, number) else { throw changed(try destination(of: item)) }
            return 1
        }
        for (index, item) in record.items.enumerated() {
            let (source, destination) = (try source(of: item), try destination(of: item))
            if !item.flags.contains(.isLeft) {
                // It may have been put back by a run that was interrupted.
                if let stored = try source.readStored() {
                    guard try source.opening(stored) == former(item, number, index) else { throw changed(source) }
                } else if item.flags.contains(.isChanged) {
                    _ = try former(item, number, index)
                }
            }
            if item.flags.contains(.isDropped) { continue }
            guard let stored = try destination.readStored(),
                try StableHash.of(destination.opening(stored)) == item.destination
            else { throw changed(destination) }
            if item.flags.contains(.isReplaced) { _ = try restoring(destination, item, number, index) }
        }
        return record.items.count
    }

    /// Puts a chunk's sources back.
    ///
    /// - Returns: How many values the chunk has.
    private func restore(_ number: Int) throws -> Int {
        let record = try keptRecord(number)
        if record.isLarge, let item = record.items.first {
            try undoLarge(item, number, record.attributes[item.attributes])
            return 1
        }
        let view = try StoreView(source.scope)
        var restored: [(key: ResolvedKey, data: Data)] = []
        for (index, item) in record.items.enumerated() where !item.flags.contains(.isLeft) {
            let source = try self.source(of: item)
            guard try view.read(source) == nil else { continue }
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
        return record.items.count
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

    /// The changes that take a chunk's destinations away, with all that is kept of it.
    private func withdrawing(_ number: Int) throws -> [BatchChange] {
        var changes: [BatchChange] = []
        for (index, item) in try keptRecord(number).items.enumerated() where !item.flags.contains(.isDropped) {
            let destination = try destination(of: item)
            if item.flags.isSuperset(of: [.isLarge, .isReplaced]) { continue }
            changes.append(
                item.flags.contains(.isReplaced)
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
