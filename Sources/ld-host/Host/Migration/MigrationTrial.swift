internal import HostStores
internal import HostSync
internal import LocalDataAPI

/// Finds out what a migration of one key has to do, by running it on a transaction that nobody else sees. A run
/// publishes the result; a plan shows it.
struct MigrationTrial: Sendable {
    /// The part of the work that an earlier run has left.
    enum Standing {
        /// All of it: it has not run, or there is new data.
        case open
        /// Its new values are in place, and its old values are not removed yet.
        case cleanup
        /// Nothing.
        case done
    }

    enum Decision: Equatable {
        /// The migration reports nothing to do.
        case nothingToDo
        /// The destination was set or removed without its older data, which stays where it is.
        case superseded
        /// The destination has a value; it and the sources stay.
        case kept
        /// The sources are removed, and nothing is written.
        case drop(isSuperseded: Bool)
        case bring
    }

    let engine: MigrationEngine
    let migration: AnyStorageMigration
    let destination: ResolvedKey
    let policy: MigrationConflictPolicy
    /// Changes that a plan assumes to be made.
    var planned: PlannedChanges?

    private var access: StoreAccess { engine.access }

    /// - Throws: `newerRevision` if a later revision has run, `packUnavailable` if the pack has changed the migration.
    func standing(of row: LedgerRow) async throws -> Standing {
        try row.requireNoLater(than: migration.revision, at: "\(destination.address)")
        if try await Ledger(access, of: destination).hasCome(row) { return .cleanup }
        guard row.state == .clean, row.revision == migration.revision, !migration.isRepeatable,
            try await !engine.hasNewData(for: migration, at: destination, over: planned)
        else {
            try row.requireSamePack(as: migration)
            return .open
        }
        guard migration.effect == .removes else { return .done }
        return try await exists(migration.destinationKey) ? .open : .done
    }

    private func exists(_ key: AnyStorageKey) async throws -> Bool {
        let resolved = try await access.resolveUnlisted(KeyReference(key))
        return if let change = planned?.change(of: resolved) { change.isSet } else { try await resolved.exists() }
    }

    /// Runs the migration.
    ///
    /// - Parameters:
    ///   - page: The page of the destination's ledger.
    ///   - isSuperseded: Whether the migration's data is older than the last change of the key, by that page.
    /// - Throws: `conflict` if the policy forbids it; `validationFailed` if it reports success without its effect; the
    ///   error of the migration.
    func run(_ page: LedgerPage, isSuperseded: Bool) async throws -> Work {
        let clock = ContinuousClock()
        let start = clock.now
        let transaction = MigrationTransaction(access, over: planned)
        let context = try await engine.migrationContext(for: migration, page, engine.settings, over: planned)
        guard try await migration.shouldMigrate(using: transaction, context: context) else {
            return Work(.nothingToDo, transaction)
        }
        transaction.discardChanges()
        let decision = try await decision(page, transaction, isSuperseded: isSuperseded)
        switch decision {
        case .nothingToDo, .superseded, .kept: return Work(decision, transaction)
        case .drop, .bring: break
        }
        let result = try await migration.migrate(using: transaction, context: context)
        guard result.success else { throw MigrationError.unsuccessful(result) }
        try await transaction.settleMoves()
        let work = Work(decision, transaction, result, duration: (clock.now - start) / .seconds(1))
        try requireOtherValues(work.entries)
        for entry in work.entries where entry.isRemoved {
            try access.snapshot.requireLasting(destination.open, for: entry.resolved.address, in: entry.resolved.open)
        }
        if decision == .bring {
            try migration.requireEffect(
                work.hasValue(at: destination.address) ?? (migration.effect == .removes), at: destination.address)
        }
        return work
    }

    private func decision(
        _ page: LedgerPage, _ transaction: MigrationTransaction, isSuperseded: Bool
    ) async throws -> Decision {
        var isSuperseded = isSuperseded
        if !isSuperseded, planned?.change(of: destination) == nil {
            isSuperseded = try await engine.isSupersededElsewhere(migration, at: destination, page)
        }
        var isThere = false
        if !isSuperseded, migration.effect == .brings,
            !migration.changesInPlace(at: destination.address, engine.settings)
        {
            isThere = try await transaction.exists(migration.destinationKey)
        }
        switch MigrationVerdict(policy, isThere: isThere, isSuperseded: isSuperseded) {
        case .bring: return .bring
        case .keep: return isSuperseded ? .superseded : .kept
        case .drop: return .drop(isSuperseded: isSuperseded)
        case .refuse: throw MigrationError.conflict(at: destination.address)
        }
    }

    /// - Throws: `validationFailed` if it would remove its own new value, because two of its keys are one value.
    private func requireOtherValues(_ entries: [MigrationTransaction.Entry]) throws(MigrationError) {
        let kept = [destination] + entries.filter { $0.change != nil && !$0.isRemoved }.map(\.resolved)
        for entry in entries where entry.isRemoved {
            guard let other = kept.first(where: { entry.resolved.isOtherPath(of: $0) }) else { continue }
            throw MigrationError(
                .validationFailed,
                "it would move '\(entry.resolved.address)' to '\(other.address)', which is the same value by another path "
                    + "of its folder; give the key one of the paths, and no migration")
        }
    }
}

extension MigrationTrial {
    /// The result of a trial.
    struct Work: Sendable {
        let decision: Decision
        /// The values that the migration read or changes, in the order of the first access.
        let entries: [MigrationTransaction.Entry]
        /// The views that all of it was read from.
        let views: [StoreView]
        /// Nothing was done as long as the decision says so.
        let result: MigrationResult
        /// In seconds.
        let duration: Double

        fileprivate init(
            _ decision: Decision, _ transaction: MigrationTransaction,
            _ result: MigrationResult = MigrationResult(success: true, outcome: .nothingToDo), duration: Double = 0
        ) {
            self.decision = decision
            (entries, views) = transaction.close()
            self.result = result
            self.duration = duration
        }

        /// The entries that take effect: of a migration that drops its sources, only these.
        func changes(besides destination: StorageAddress) -> [MigrationTransaction.Entry] {
            guard case .drop = decision else { return entries }
            return entries.filter { $0.isRemoved && $0.resolved.address != destination }
        }

        /// Whether a value is at an address then; `nil` if the migration did not look there.
        func hasValue(at address: StorageAddress) -> Bool? {
            entries.first { $0.resolved.address == address }.map { $0.change?.isSet ?? ($0.sizeBefore != nil) }
        }
    }
}

/// The treatment of a value that a migration finds. Runs and plans decide it alike, for one key and for many.
enum MigrationVerdict: Sendable {
    /// Its data replaces the value at the destination, if there is one.
    case bring
    /// It stays, and so does the destination.
    case keep
    /// It is removed, and the destination stays.
    case drop
    /// The migration fails.
    case refuse

    /// - Parameters:
    ///   - isThere: Whether the destination has a value.
    ///   - isSuperseded: Whether the destination was set or removed without it; see ``Supersession``. That decides only
    ///     as long as there is nothing, unless another device of the sync group led then.
    init(_ policy: MigrationConflictPolicy, isThere: Bool, isSuperseded: Bool) {
        switch (policy, isThere) {
        case (.dropSource, true): self = .drop
        case (.keepDestination, true): self = .keep
        case (.takeSource, true): self = isSuperseded ? .keep : .bring
        case (.fail, true): self = isSuperseded ? .keep : .refuse
        case (.dropSource, false): self = isSuperseded ? .drop : .bring
        case (_, false): self = isSuperseded ? .keep : .bring
        }
    }
}
