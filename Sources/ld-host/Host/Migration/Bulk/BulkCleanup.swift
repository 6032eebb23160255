internal import ByteCoding
internal import FoundationEssentials
internal import LocalDataAPI

/// Removes the sources of a chunk that are still there: those that are as they were, and whose destination is as the
/// chunk left it.
struct BulkCleanup {
    private static let attempts = 3

    let ledger: BulkLedger

    init(_ ledger: BulkLedger) { self.ledger = ledger }

    /// Resumes a chunk that was interrupted.
    ///
    /// - Parameter pending: As ``BulkChunk/move(_:_:_:pending:)``.
    func resume(_ row: inout LedgerRow, _ page: inout LedgerPage, pending: inout [StorageAddress]) throws {
        guard let progress = row.bulk, progress.isOpen else { return }
        let number = progress.chunks - 1
        guard var record = try ledger.record(number) else {
            throw StorageError(
                .corrupt, "the ledger's record of a part of the migration '\(row.id)' is gone",
                hint: "restore it from a backup, or see: ld-host migrate ledger repair; no value is removed without it")
        }
        if record.isLarge || record.items.isEmpty {
            try BulkLarge(ledger).finish(number, &record, &row, &page)
            row.bulk?.isOpen = false
            return
        }
        try run(number, &record, &row, &page, pending: &pending)
    }

    /// - Throws: What keeps it from being done; then it can be tried again.
    func run(
        _ number: Int, _ given: inout BulkRecord, _ row: inout LedgerRow, _ page: inout LedgerPage,
        pending: inout [StorageAddress]
    ) throws {
        var record = given
        var (next, most, conflicts) = (0, record.items.count, 0)
        while next < record.items.count {
            let range = next..<min(next + most, record.items.count)
            let view = try StoreView(ledger.source.scope)
            var looked = record
            let changes = try changes(number, range, &looked, view)
            if try changes.isEmpty || ledger.apply(changes, views: [view]) {
                (record, next, conflicts) = (looked, range.upperBound, 0)
                continue
            }
            // What others change all the time keeps fewer values from being removed the fewer there are in a step.
            most = max(1, range.count / 2)
            conflicts += range.count == 1 ? 1 : 0
            guard conflicts == Self.attempts else { continue }
            record.items[next].flags.insert(.isLeft)
            pending.append(ledger.source.address(ledger.migration.source.prefix + record.items[next].suffix))
            (next, conflicts) = (next + 1, 0)
        }
        let left =
            record.items.count { $0.flags.contains(.isLeft) } - given.items.count { $0.flags.contains(.isLeft) }
        row.bulk?.isOpen = false
        row.bulk?.left += left
        guard left > 0 else { return }
        page[row.id] = row
        given = record
        _ = try ledger.apply([ledger.recordPlace(number).changing(to: record.encoded()), ledger.change(page)])
    }

    private func changes(
        _ number: Int, _ range: Range<Int>, _ record: inout BulkRecord, _ view: StoreView
    ) throws -> [BatchChange] {
        var changes: [BatchChange] = []
        for index in range {
            let item = record.items[index]
            let source = try ledger.source.key(ledger.migration.source.prefix + item.suffix)
            guard let stored = try view.read(source) else { continue }
            guard StableHash.of(stored) == item.source, try isInPlace(item) else {
                record.items[index].flags.insert(.isLeft)
                continue
            }
            if item.flags.contains(.isChanged), ledger.grace > 0 {
                let image = try ledger.image(ofSource: source, number, index, record.attributes[item.attributes])
                changes.append(image.changing(to: try source.opening(stored)))
            }
            changes.append(source.changing(to: nil))
        }
        return changes
    }

    private func isInPlace(_ item: BulkRecord.Item) throws -> Bool {
        if item.flags.contains(.isDropped) { return true }
        let key = try ledger.destination.key(ledger.migration.destination.prefix + item.suffix)
        guard let stored = try key.readStored() else { return false }
        return StableHash.of(try key.opening(stored)) == item.destination
    }
}

/// Gives up what is kept to undo a bulk migration: a chunk at a time, the oldest first.
struct BulkExpiry {
    let ledger: BulkLedger

    init(_ ledger: BulkLedger) { self.ledger = ledger }

    func run(_ row: inout LedgerRow, _ page: inout LedgerPage) throws {
        guard let progress = row.bulk else { return }
        for number in progress.firstRecord..<progress.chunks {
            var next = row
            next.bulk?.firstRecord = number + 1
            if number + 1 == progress.chunks { next.expires = nil }
            page[row.id] = next
            _ = try ledger.apply(dropping(number) + [ledger.change(page)])
            row = next
        }
        try ledger.wipe(&row, &page)
    }

    /// The changes that remove a chunk's record and images.
    func dropping(_ number: Int) throws -> [BatchChange] {
        var changes = [try ledger.recordPlace(number).changing(to: nil)]
        for (index, item) in (try ledger.record(number)?.items ?? []).enumerated() {
            if item.flags.contains(.isChanged) {
                let key = try ledger.source.key(ledger.migration.source.prefix + item.suffix)
                changes.append(try ledger.image(ofSource: key, number, index).changing(to: nil))
            }
            if item.flags.contains(.isReplaced) {
                let key = try ledger.destination.key(ledger.migration.destination.prefix + item.suffix)
                changes.append(try ledger.image(ofDestination: key, number, index).changing(to: nil))
            }
        }
        return changes
    }
}
