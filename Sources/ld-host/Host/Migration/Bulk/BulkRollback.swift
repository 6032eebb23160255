internal import ByteCoding
internal import FoundationEssentials
internal import LocalDataAPI

/// Undoes a bulk migration: a chunk at a time, the last first. A source that was moved as it was is put back from its
/// destination; one that became something else, and what was replaced, from their images.
struct BulkRollback {
    let ledger: BulkLedger
    private var migration: AnyBulkMigration { ledger.migration }

    init(_ ledger: BulkLedger) { self.ledger = ledger }

    /// - Throws: `validationFailed` if there is nothing to undo, or a value is not as the migration left it: then
    ///   nothing is done. What a store reports: then some chunks are undone, and the others can be.
    func run(_ report: (StepProgress) -> Void) throws {
        var page = try ledger.page()
        guard var row = page[migration.id], let progress = row.bulk, ledger.grace > 0,
            row.state == .clean || row.state == .published, progress.firstRecord < progress.chunks
        else {
            throw MigrationError(
                .validationFailed,
                "the migration '\(migration.id)' has moved nothing, or the values that it replaced are no longer kept")
        }
        // What others keep changing stays; that keeps nothing else from being undone.
        var pending: [StorageAddress] = []
        try BulkCleanup(ledger).resume(&row, &page, pending: &pending)
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
            row.bulk?.chunks = number
            row.bulk?.after = nil
            row.state = number == progress.firstRecord ? .rolledBack : .published
            if row.state == .rolledBack {
                row.expires = nil
                row.bulk = BulkProgress(migration)
            }
            page[row.id] = row
            let changes = try withdrawing(number) + [ledger.change(page)]
            _ = try ledger.apply(changes)
        }
    }

    /// Gives up what is kept to undo the migration.
    func confirm() throws {
        var page = try ledger.page()
        guard var row = page[migration.id], row.bulk != nil, row.state == .clean else {
            throw MigrationError(.validationFailed, "the migration '\(migration.id)' is not complete")
        }
        try BulkExpiry(ledger).run(&row, &page)
    }

    /// Throws unless every value of a chunk is as the migration left it.
    ///
    /// - Returns: How many values the chunk has.
    private func check(_ number: Int) throws -> Int {
        let record = try record(number)
        if record.isLarge, let item = record.items.first {
            guard try BulkLarge(ledger).checkUndoing(item, number) else { throw changed(try keys(item).destination) }
            return 1
        }
        for (index, item) in record.items.enumerated() {
            let (source, destination) = try keys(item)
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
            if item.flags.contains(.isReplaced) { _ = try replaced(item, destination, number, index) }
        }
        return record.items.count
    }

    /// Puts a chunk's sources back.
    ///
    /// - Returns: How many values the chunk has.
    private func restore(_ number: Int) throws -> Int {
        let record = try record(number)
        if record.isLarge, let item = record.items.first {
            try BulkLarge(ledger).undo(item, number, record.attributes[item.attributes])
            return 1
        }
        let view = try StoreView(ledger.source.scope)
        var restored: [(key: ResolvedKey, data: Data)] = []
        for (index, item) in record.items.enumerated() where !item.flags.contains(.isLeft) {
            let source = try keys(item).source
            guard try view.read(source) == nil else { continue }
            let key = try ledger.source.key(source.address.name, record.attributes[item.attributes])
            restored.append((key, try former(item, number, index)))
        }
        let changes = restored.map { $0.key.changing(to: $0.data) }
        guard try changes.isEmpty || ledger.apply(changes, views: [view]) else {
            throw MigrationError(.validationFailed, "a value of '\(migration.source)' was changed meanwhile; try again")
        }
        for (key, data) in restored {
            guard let stored = try key.readStored(), try key.opening(stored) == data else { throw changed(key) }
        }
        return record.items.count
    }

    /// The old value of a source.
    private func former(_ item: BulkRecord.Item, _ number: Int, _ index: Int) throws -> Data {
        let (source, destination) = try keys(item)
        let from = item.flags.contains(.isChanged) ? try ledger.image(ofSource: source, number, index) : destination
        guard let stored = try from.readStored() else { throw gone(source) }
        let data = try from.opening(stored)
        // One that is sealed does not open if it is damaged.
        guard !item.flags.contains(.isChanged) || !source.layers.isEmpty || StableHash.of(data) == item.source else {
            throw MigrationError.damagedImage(of: source.address, migration.id)
        }
        return data
    }

    /// The old value of a destination.
    private func replaced(
        _ item: BulkRecord.Item, _ destination: ResolvedKey, _ number: Int, _ index: Int
    ) throws -> (data: Data, attributes: ValueAttributes?) {
        let image = try ledger.image(ofDestination: destination, number, index)
        guard let stored = try image.readStored() else { throw gone(destination) }
        let data = try image.opening(stored)
        guard item.replaced == nil || item.replaced == StableHash.of(data) else {
            throw MigrationError.damagedImage(of: destination.address, migration.id)
        }
        return (data, try image.sealedValue(image.layers).attributes()?.kept)
    }

    /// The changes that take a chunk's destinations away, with all that is kept of it.
    private func withdrawing(_ number: Int) throws -> [BatchChange] {
        var changes: [BatchChange] = []
        for (index, item) in try record(number).items.enumerated() where !item.flags.contains(.isDropped) {
            let destination = try keys(item).destination
            if item.flags.isSuperset(of: [.isLarge, .isReplaced]) { continue }
            guard item.flags.contains(.isReplaced) else {
                changes.append(destination.changing(to: nil))
                continue
            }
            let former = try replaced(item, destination, number, index)
            let key = try ledger.destination.key(destination.address.name, former.attributes)
            changes.append(key.changing(to: former.data))
        }
        return try changes + BulkExpiry(ledger).dropping(number)
    }

    private func record(_ number: Int) throws -> BulkRecord {
        guard let record = try ledger.record(number) else {
            throw MigrationError(
                .validationFailed, "the values that the migration '\(migration.id)' has moved are no longer kept")
        }
        return record
    }

    private func keys(_ item: BulkRecord.Item) throws -> (source: ResolvedKey, destination: ResolvedKey) {
        (
            try ledger.source.key(migration.source.prefix + item.suffix),
            try ledger.destination.key(migration.destination.prefix + item.suffix)
        )
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
