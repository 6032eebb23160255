internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostStores
internal import LocalDataAPI

/// Removes the sources of a chunk that are still there: those that are as they were, and whose destination is as the
/// chunk left it.
extension BulkLedger {
    /// Resumes a chunk that was interrupted.
    func resume(_ entry: inout LedgerEntry) throws {
        guard let progress = entry.row.bulk, progress.isOpen else { return }
        let number = progress.chunks - 1
        guard var record = try record(number) else {
            throw StorageError(
                .corrupt, "the ledger's record of a part of the migration '\(entry.row.id)' is gone",
                hint: "restore it from a backup, or see: ld-host migrate ledger repair; no value is removed without it")
        }
        if record.isLarge || record.items.isEmpty {
            try finishLarge(number, &record, &entry)
            entry.row.bulk?.isOpen = false
            return
        }
        try clean(number, &record, &entry)
    }

    /// - Throws: What keeps it from being done; then it can be tried again.
    func clean(_ number: Int, _ given: inout BulkRecord, _ entry: inout LedgerEntry) throws {
        var record = given
        var (next, most, conflicts) = (0, record.items.count, 0)
        while next < record.items.count {
            let range = next..<min(next + most, record.items.count)
            let view = try StoreView(source.scope)
            var looked = record
            let changes = try removals(number, range, &looked, view)
            if try ledger.apply(changes, views: [view]) {
                (record, next, conflicts) = (looked, range.upperBound, 0)
                continue
            }
            // What others change all the time keeps fewer values from being removed the fewer there are in a step.
            most = max(1, range.count / 2)
            conflicts += range.count == 1 ? 1 : 0
            guard conflicts == MoveLimits.attempts else { continue }
            record.items[next].flags.insert(.isLeft)
            entry.pending.append(source.address(migration.source.prefix + record.items[next].suffix))
            (next, conflicts) = (next + 1, 0)
        }
        let left =
            record.items.count { $0.flags.contains(.isLeft) } - given.items.count { $0.flags.contains(.isLeft) }
        entry.row.bulk?.isOpen = false
        entry.row.bulk?.left += left
        guard left > 0 else { return }
        given = record
        try entry.commit(with: [change(record, number)])
    }

    private func removals(
        _ number: Int, _ range: Range<Int>, _ record: inout BulkRecord, _ view: StoreView
    ) throws -> [BatchChange] {
        var changes: [BatchChange] = []
        for index in range {
            let item = record.items[index]
            let source = try source(of: item)
            guard let stored = try view.read(source) else { continue }
            guard StableHash.of(stored) == item.source, try isInPlace(item) else {
                record.items[index].flags.insert(.isLeft)
                continue
            }
            if item.flags.contains(.isChanged), grace > 0 {
                let image = try image(.source, of: source, number, index, record.attributes[item.attributes])
                changes.append(image.changing(to: try source.opening(stored)))
            }
            changes.append(source.changing(to: nil))
        }
        return changes
    }

    private func isInPlace(_ item: BulkRecord.Item) throws -> Bool {
        if item.flags.contains(.isDropped) { return true }
        let key = try destination(of: item)
        guard let stored = try key.readStored() else { return false }
        return StableHash.of(try key.opening(stored)) == item.destination
    }
}

/// Gives up what is kept to undo a bulk migration.
extension BulkLedger {
    /// Drops a chunk at a time, the oldest first.
    func expire(_ entry: inout LedgerEntry) throws {
        guard let progress = entry.row.bulk else { return }
        for number in progress.firstRecord..<progress.chunks {
            entry.row.bulk?.firstRecord = number + 1
            if number + 1 == progress.chunks { entry.row.expires = nil }
            try entry.commit(with: dropping(number))
        }
        try entry.wipe(self)
    }

    /// The changes that remove a chunk's record and images.
    func dropping(_ number: Int) throws -> [BatchChange] {
        var changes = [try recordPlace(number).changing(to: nil)]
        for (index, item) in (try record(number)?.items ?? []).enumerated() {
            let images = try images(of: item, number, index)
            changes += [images.source, images.destination].compactMap { $0?.changing(to: nil) }
        }
        return changes
    }
}
