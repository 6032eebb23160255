internal import FoundationEssentials
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
        mutating func note(_ count: Int, _ last: String, _ row: LedgerRow, _ page: LedgerPage) {
            looked += count
            after = last
            progress = row.bulk ?? progress
            closed = progress.isOpen ? nil : page[row.id]
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
        let total = try await blocking { [isWatched = progress != nil] in try check.run(counting: isWatched) }
        var sweep = Sweep(migration)
        sweep.superseded = try await blocking { try SupersededValues(ledger) }
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
            var page = try ledger.page()
            var row = try row(of: page)
            sweep.before = row.bulk ?? BulkProgress(migration)
            try BulkCleanup(ledger).resume(&row, &page, pending: &sweep.pending)
            let (state, after) = (row.state, row.bulk?.after)
            _ = try BulkChunk(ledger, policy: policy).move(
                [migration.sourceName(of: name)], &row, &page, pending: &sweep.pending)
            sweep.progress = row.bulk ?? BulkProgress(migration)
            guard sweep.progress.chunks > sweep.before.chunks else { return sweep }
            // Where a run of all values is has not changed.
            row.bulk?.after = after
            row.state = state == .clean ? .clean : .published
            if row.state == .clean { row.expires = expiry(row) }
            page[row.id] = row
            _ = try ledger.apply([ledger.change(page)])
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
        var page = try ledger.page()
        var row = try row(of: page)
        if !sweep.isBegun {
            sweep.isBegun = true
            sweep.before = row.bulk ?? BulkProgress(migration)
            sweep.after = row.state == .clean ? nil : row.bulk?.after
            if row.state == .clean, let expires = row.expires, expires <= Ledger.now {
                try BulkExpiry(ledger).run(&row, &page)
            }
        }
        // That of the last chunk was done by this run, unless someone else was at work meanwhile.
        if row.state == .clean, row.unwiped != nil, sweep.looked == 0 { try ledger.wipe(&row, &page) }
        if let closed = sweep.closed, page[migration.id] == closed { row.bulk?.isOpen = false }
        try BulkCleanup(ledger).resume(&row, &page, pending: &sweep.pending)
        if sweep.next == sweep.names.count {
            var limit = Self.page
            let plain = sweep.superseded.isEmpty && waiting.isEmpty ? PlainChunk(ledger) : nil
            switch try plain?.move(after: sweep.after, &row, &page, pending: &sweep.pending) {
            case .moved(let count, let last):
                sweep.note(count, last, row, page)
                return sweep
            case .nothingLeft: limit = 0
            case .unfit(let count): limit = count
            case nil: break
            }
            sweep.names = limit == 0 ? [] : try names(after: sweep.after, limit: limit)
            sweep.next = 0
        }
        guard !sweep.names.isEmpty else {
            try finish(&row, &page, sweep)
            sweep.isOver = true
            return sweep
        }
        let count = try BulkChunk(ledger, policy: policy, superseded: sweep.superseded).move(
            sweep.names[sweep.next...], &row, &page, pending: &sweep.pending)
        sweep.next += count
        sweep.note(count, sweep.names[sweep.next - 1], row, page)
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
    private func finish(_ row: inout LedgerRow, _ page: inout LedgerPage, _ sweep: Sweep) throws {
        guard let progress = row.bulk, row.state != .clean || progress.isOpen || progress.chunks > sweep.before.chunks
        else { return }
        guard progress.chunks > 0 else { return }
        row.bulk?.after = nil
        row.bulk?.isOpen = false
        row.state = .clean
        var changes: [BatchChange] = []
        if ledger.grace == 0 {
            for number in progress.firstRecord..<progress.chunks {
                changes.append(try ledger.recordPlace(number).changing(to: nil))
            }
            row.bulk?.firstRecord = progress.chunks
        }
        row.expires = expiry(row)
        page[row.id] = row
        _ = try ledger.apply(changes + [ledger.change(page)])
        try ledger.wipe(&row, &page)
    }

    private func expiry(_ row: LedgerRow) -> Int64? {
        guard ledger.grace > 0, let progress = row.bulk, progress.firstRecord < progress.chunks else { return nil }
        return Ledger.now(plusDays: ledger.grace)
    }

    /// The ledger's row, or the first one.
    private func row(of page: LedgerPage) throws -> LedgerRow {
        let known = page[migration.id]
        if let known, known.revision > migration.revision {
            throw MigrationError(
                .newerRevision,
                "revision \(known.revision) has migrated '\(migration.destination)', and this program has "
                    + "revision \(migration.revision); use a later version of the program")
        }
        var progress = known?.bulk ?? BulkProgress(migration)
        // A migration that was rolled back, or had another revision, starts over.
        if known?.state == .rolledBack || known.map({ $0.revision < migration.revision }) == true {
            progress.after = nil
        }
        var row = LedgerRow(
            id: migration.id, revision: migration.revision, state: known?.state ?? .published, written: [], removed: [],
            committed: Ledger.now, duration: (ContinuousClock().now - start) / .seconds(1),
            appVersion: ledger.snapshot.settings.appVersion, expires: known?.expires,
            pack: migration.pack)
        row.bulk = progress
        return row
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
        let snapshot = ledger.snapshot
        return try await MigrationTurns.shared.alone(in: ledger.destination.open, snapshot.settings) {
            try await blocking {
                // A batch that was decided and is not all in place would be taken for no change.
                BatchRecovery(snapshot: snapshot).recoverAndSettle()
                return try body()
            }
        }
    }

    /// Runs what may wait on a thread that may.
    private func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await onIOThread { () throws(StorageError) in Result { try body() } }.get()
    }
}

/// How far a bulk migration is: a part of its row in the ledger.
struct BulkProgress: Codable, Equatable, Sendable {
    /// The ranges, for people.
    let source: String
    let destination: String
    /// The source's name that was looked at last; `nil` at the beginning, and when all have been.
    var after: String?
    /// How many chunks there have been; each has a record, numbered from 0, until it is dropped.
    var chunks = 0
    /// The number of the first record that is kept.
    var firstRecord = 0
    /// Whether the sources of the last chunk may still be there.
    var isOpen = false
    /// How many values came to their destination.
    var moved = 0
    /// How many values stayed, since their destination had one.
    var kept = 0
    /// How many sources were removed whose destination had a value, which stayed.
    var dropped: Int?
    /// How many sources stayed, since someone had changed them.
    var left = 0

    /// Whether the numbers fit each other; what counts with them relies on that.
    var isSound: Bool {
        let most = 1 << 48
        return firstRecord >= 0 && firstRecord <= chunks && chunks < most
            && [moved, kept, dropped ?? 0, left].allSatisfy { (0..<most).contains($0) }
    }

    init(_ migration: AnyBulkMigration) {
        source = migration.source.description
        destination = migration.destination.description
    }
}
