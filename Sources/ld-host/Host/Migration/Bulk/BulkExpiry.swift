internal import LocalDataAPI

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
