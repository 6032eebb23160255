internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import HostStores
internal import LocalDataAPI

/// A run of a bulk migration: chunk after chunk, each in turn in the destination's store. So a call that needs a single
/// value waits for one chunk at most. An interrupted run is taken up behind the last chunk, by whatever process.
struct BulkRun: Sendable {
    /// The state of a run between two chunks.
    private struct Sweep: Sendable {
        /// Some of the names that are still to be looked at.
        var names: [String] = []
        var next = 0
        var after: String?
        var isBegun = false
        var isOver = false
        var looked = 0
        /// The ledger's row when the run began.
        var before: BulkProgress
        var progress: BulkProgress
        /// The ledger's row after the last chunk, if nothing of that is left to do.
        var closed: LedgerRow?
        /// Values that are not brought any more.
        var superseded = SupersededValues()
        /// Sources that stay where they are because others kept changing them or their destinations.
        var pending: [StorageAddress] = []

        init(_ migration: AnyBulkMigration) {
            before = BulkProgress(migration)
            progress = before
        }

        /// Notes that so many more names were looked at.
        mutating func note(_ count: Int, _ last: String, _ entry: LedgerEntry) {
            looked += count
            after = last
            progress = entry.row.bulk ?? progress
            closed = progress.isOpen ? nil : entry.page[entry.row.id]
            pending = entry.pending
        }
    }

    /// How many names are in memory at once. Stores of files list the folder again for each page, since values were
    /// removed from it.
    private static let page = 65_536
    /// How many pending values an error names.
    private static let named = 20

    let ledger: BulkLedger
    let policy: MigrationConflictPolicy
    /// The names of sources that are left to the device that leads the sync group.
    private let waiting: Set<String>
    private var migration: AnyBulkMigration { ledger.migration }
    private let start = ContinuousClock().now

    init(_ ledger: BulkLedger, policy: MigrationConflictPolicy, waiting: Set<String> = []) {
        (self.ledger, self.policy, self.waiting) = (ledger, policy, waiting)
    }

    /// Moves all values.
    ///
    /// - Parameter progress: Called with the number of examined values and of all values.
    func all(
        besides others: [AnyBulkMigration], progress: (@Sendable (_ done: Int, _ total: Int) -> Void)?
    ) async throws -> MigrationResult {
        let check = BulkCheck(ledger: ledger, policy: policy, others: others)
        var sweep = Sweep(migration)
        let total: Int
        (total, sweep.superseded) = try await onIOThread { [isWatched = progress != nil] () throws(StorageError) in
            Result { (try check.run(counting: isWatched), try SupersededValues(ledger)) }
        }.get()
        while !sweep.isOver {
            try Task.checkCancellation()
            sweep = try await alone { [sweep] in try step(sweep) }
            progress?(min(sweep.looked, total), total)
        }
        try requireNonePending(sweep)
        return result(sweep)
    }

    /// Moves one value, if it is there.
    ///
    /// - Parameter name: Its name in the destination.
    func one(_ name: String) async throws -> MigrationResult {
        try BulkCheck(ledger: ledger, policy: policy, others: []).checkRanges()
        let sweep = try await alone {
            var sweep = Sweep(migration)
            var entry = try entry()
            try ledger.completeUndoing(&entry)
            sweep.before = entry.row.bulk ?? BulkProgress(migration)
            try ledger.resume(&entry)
            let (state, after) = (entry.row.state, entry.row.bulk?.after)
            _ = try BulkChunk(ledger: ledger, policy: policy).move([migration.sourceName(of: name)], &entry)
            sweep.progress = entry.row.bulk ?? BulkProgress(migration)
            sweep.pending = entry.pending
            guard sweep.progress.chunks > sweep.before.chunks else { return sweep }
            // Where a run of all values is has not changed.
            entry.row.bulk?.after = after
            entry.row.state = state == .clean ? .clean : .published
            if state == .clean { entry.row.expires = expiry(entry.row) }
            try entry.commit()
            return sweep
        }
        try requireNonePending(sweep)
        return result(sweep)
    }

    private func requireNonePending(_ sweep: Sweep) throws {
        guard !sweep.pending.isEmpty else { return }
        let named = sweep.pending.prefix(Self.named).map { "'\($0)'" }.joined(separator: ", ")
        let rest = sweep.pending.count - min(sweep.pending.count, Self.named)
        let cause = StorageError(
            .busy,
            "\(sweep.pending.count) values kept changing while they were moved, and stay where they are: "
                + named + (rest > 0 ? " and \(rest) more" : ""),
            hint: "all other values are moved; run it again")
        throw MigrationError(.storageFailed, cause.message, underlying: cause)
    }

    private func step(_ given: Sweep) throws -> Sweep {
        var sweep = given
        var entry = try entry()
        entry.pending = sweep.pending
        if !sweep.isBegun {
            sweep.isBegun = true
            try ledger.completeUndoing(&entry)
            sweep.before = entry.row.bulk ?? BulkProgress(migration)
            sweep.after = entry.row.state == .clean ? nil : entry.row.bulk?.after
            if entry.row.state == .clean, let expires = entry.row.expires, expires <= Ledger.now {
                try ledger.expire(&entry)
            }
        }
        // That of the last chunk was done by this run, unless someone else was at work meanwhile.
        if entry.row.state == .clean, entry.row.unwiped != nil, sweep.looked == 0 { try entry.wipe(ledger) }
        if let closed = sweep.closed, entry.page[migration.id] == closed { entry.row.bulk?.isOpen = false }
        try ledger.resume(&entry)
        if sweep.next == sweep.names.count {
            var limit = Self.page
            let plain = sweep.superseded.isEmpty && waiting.isEmpty ? PlainChunk(ledger) : nil
            switch try plain?.move(after: sweep.after, &entry) {
            case .moved(let count, let last):
                sweep.note(count, last, entry)
                return sweep
            case .nothingLeft: limit = 0
            case .unfit(let count): limit = count
            case nil: break
            }
            sweep.names = limit == 0 ? [] : try names(after: sweep.after, limit: limit)
            sweep.next = 0
        }
        guard !sweep.names.isEmpty else {
            try finish(&entry, sweep)
            (sweep.isOver, sweep.pending) = (true, entry.pending)
            return sweep
        }
        let count = try BulkChunk(ledger: ledger, policy: policy, superseded: sweep.superseded).move(
            sweep.names[sweep.next...], &entry)
        sweep.next += count
        sweep.note(count, sweep.names[sweep.next - 1], entry)
        return sweep
    }

    /// The next names, without those that wait.
    private func names(after: String?, limit: Int) throws -> [String] {
        var after = after
        while true {
            let found = try ledger.source.names(after: after, limit: limit)
            let names = waiting.isEmpty ? found : found.filter { !waiting.contains($0) }
            if !names.isEmpty || found.isEmpty { return names }
            after = found.last
        }
    }

    /// Says that all values have been looked at, unless nothing has come of it.
    private func finish(_ entry: inout LedgerEntry, _ sweep: Sweep) throws {
        guard let progress = entry.row.bulk, progress.chunks > 0,
            entry.row.state != .clean || progress.isOpen || progress.chunks > sweep.before.chunks
        else { return }
        entry.row.bulk?.after = nil
        entry.row.bulk?.isOpen = false
        entry.row.state = .clean
        var changes: [BatchChange] = []
        if ledger.grace == 0 {
            for number in progress.firstRecord..<progress.chunks {
                changes.append(try ledger.recordPlace(number).changing(to: nil))
            }
            entry.row.bulk?.firstRecord = progress.chunks
        }
        entry.row.expires = expiry(entry.row)
        try entry.commit(with: changes)
        try entry.wipe(ledger)
    }

    private func expiry(_ row: LedgerRow) -> Int64? {
        guard ledger.grace > 0, let progress = row.bulk, progress.firstRecord < progress.chunks else { return nil }
        return Ledger.now(plusDays: ledger.grace)
    }

    /// The ledger's row, or the first one.
    private func entry() throws -> LedgerEntry {
        let page = try ledger.page()
        let known = page[migration.id]
        try known?.requireNoLater(than: migration.revision, at: "\(migration.destination)")
        var progress = known?.bulk ?? BulkProgress(migration)
        // A migration that was rolled back, or had another revision, starts over.
        if known?.state == .rolledBack || known.map({ $0.revision < migration.revision }) == true {
            progress.after = nil
        }
        var row = LedgerRow(
            migration, known?.state ?? .published, after: (ContinuousClock().now - start) / .seconds(1),
            ledger.snapshot.settings, known?.expires)
        row.bulk = progress
        row.unwiped = known?.unwiped
        return LedgerEntry(ledger: ledger.ledger, page: page, row: row)
    }

    private func result(_ sweep: Sweep) -> MigrationResult {
        let (before, after) = (sweep.before, sweep.progress)
        let moved = after.moved - before.moved
        let kept = after.kept - before.kept
        let dropped = (after.dropped ?? 0) - (before.dropped ?? 0)
        let outcome: MigrationOutcome =
            moved > 0
            ? .migrated
            : sweep.before.isOpen
                ? .cleaned : dropped > 0 ? .sourceDropped : kept > 0 ? .destinationKept : .nothingToDo
        return MigrationResult(
            success: true, migratedCount: moved,
            metadata: [
                "kept": AnyCodable(.int(Int64(kept))), "dropped": AnyCodable(.int(Int64(dropped))),
                "left": AnyCodable(.int(Int64(after.left - before.left))),
            ],
            duration: (ContinuousClock().now - start) / .seconds(1), outcome: outcome)
    }

    private func alone<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await MigrationTurns.shared.alone(
            in: ledger.destination.open, completingBatchesOf: ledger.snapshot, blocking: body)
    }
}
