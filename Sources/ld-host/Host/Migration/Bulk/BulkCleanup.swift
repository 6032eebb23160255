internal import FoundationEssentials
internal import LocalDataAPI

/// Removes the sources of a chunk that are still there: those that are as they were, and whose destination is as the chunk
/// left it.
struct BulkCleanup {
    private static let attempts = 3

    let ledger: BulkLedger

    init(_ ledger: BulkLedger) { self.ledger = ledger }

    /// Goes on with a chunk that was interrupted.
    func resume(_ row: inout LedgerRow, _ page: inout LedgerPage) throws {
        guard let progress = row.bulk, progress.isOpen else { return }
        let number = progress.chunks - 1
        guard var record = try ledger.record(number) else {
            throw StorageError(
                .corrupt, "the ledger's record of a part of the migration '\(row.id)' is gone",
                hint: "restore it from a backup; no value is removed without it")
        }
        if record.isLarge || record.items.isEmpty {
            try BulkLarge(ledger).finish(number, &record, &row, &page)
            row.bulk?.isOpen = false
            return
        }
        try run(number, &record, &row, &page)
    }

    /// - Throws: What keeps it from being done; then it can be tried again.
    func run(
        _ number: Int, _ record: inout BulkRecord, _ row: inout LedgerRow, _ page: inout LedgerPage
    ) throws {
        for _ in 0..<Self.attempts {
            let view = try StoreView(ledger.source.scope)
            var next = record
            let changes = try changes(number, &next, view)
            guard try changes.isEmpty || ledger.apply(changes, views: [view]) else { continue }
            let left =
                next.items.count { $0.flags.contains(.isLeft) } - record.items.count { $0.flags.contains(.isLeft) }
            row.bulk?.isOpen = false
            row.bulk?.left += left
            if left > 0 {
                page[row.id] = row
                record = next
                _ = try ledger.apply([
                    ledger.recordPlace(number).changing(to: record.encoded()), ledger.change(page),
                ])
            }
            return
        }
        throw StorageError(
            .busy, "what '\(ledger.migration.source)' has was changed again and again", hint: "try again")
    }

    private func changes(_ number: Int, _ record: inout BulkRecord, _ view: StoreView) throws -> [BatchChange] {
        var changes: [BatchChange] = []
        for index in record.items.indices {
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
        let key = try ledger.destination.key(ledger.migration.destination.prefix + item.suffix)
        guard let stored = try key.readStored() else { return false }
        return StableHash.of(try key.opening(stored)) == item.destination
    }
}
