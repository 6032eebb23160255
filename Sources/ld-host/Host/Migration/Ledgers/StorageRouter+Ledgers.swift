internal import FoundationEssentials
public import LocalDataAPI

/// What the ledgers of all stores say, and what is done about it. A store that cannot list what it holds is asked for
/// the destinations of known migrations.
extension StorageRouter {
    /// How every migration stands that is known, or that the ledgers have.
    ///
    /// - Returns: Also what keeps ledgers from being found, and packs from being used. What is known here says what a
    ///   run would do now, as ``migrationPlan(only:upTo:)`` finds it out.
    public func migrationStatus() async throws -> (migrations: [MigrationStatus], failures: [StorageError]) {
        let snapshot = try await snapshot()
        var failures: [StorageError] = []
        do { try await loadPacks() } catch {
            let error = error as? MigrationError ?? MigrationError(.packUnavailable, "\(error)")
            failures.append(StorageError(.unsupported, error.message, hint: error.underlying?.hint ?? ""))
        }
        let survey = await ledgers(snapshot)
        var standing = MigrationStanding(survey, snapshot.settings)
        let former = try await formerPlaceMigrations().migrations.map { KnownMigration.single($0) }
        let plan = try? await migrationPlan()
        let next = Dictionary(
            (plan?.entries ?? []).map { ($0.migration, $0.decision) }, uniquingKeysWith: { first, _ in first })
        var all = standing.all(migrationRegistry.known + former)
        for index in all.indices where all[index].revision != nil { all[index].next = next[all[index].migration] }
        return (all + conflicts(in: plan), failures + survey.allFailures)
    }

    /// Keys whose value may be at either of two places, which no migration is made for.
    private func conflicts(in plan: MigrationPlan?) -> [MigrationStatus] {
        let known = Set(migrationRegistry.known.map(\.id))
        return (plan?.entries ?? []).filter { $0.decision == .refused && !known.contains($0.migration) }.map {
            MigrationStatus(
                migration: $0.migration, summary: $0.summary, pack: nil, destination: $0.destination, revision: nil,
                recordedRevision: nil, state: .notRun, committed: nil, keptUntil: nil, left: [], problem: $0.why)
        }
    }

    /// Everything that has been migrated, to whatever key and by whatever process, in the order of the runs.
    ///
    /// - Returns: Also what keeps ledgers from being read.
    public func migrationHistory() async throws -> (records: [MigrationRecord], failures: [StorageError]) {
        let survey = await ledgers(try await snapshot())
        let records = survey.readable.flatMap { $0.page.rows.map(\.record) }
        return (records.sorted { ($0.date, $0.id) < ($1.date, $1.id) }, survey.allFailures)
    }

    /// Undoes a migration by its id; see the other.
    ///
    /// - Parameters:
    ///   - address: Its destination, `domain[:scope]/name`, if several have a migration of this id.
    ///   - progress: Of one of many keys, called as values have been checked and put back, on any thread.
    public func rollbackMigration(
        _ id: String, of address: String? = nil, progress: @escaping @Sendable (StepProgress) -> Void = { _ in }
    ) async throws {
        try await inTurn(id, address, ofMany: { try await self.rollbackRange(id, progress) }) {
            try await MigrationRollback($0).run(id)
        }
    }

    /// Makes a migration final by its id; see the other.
    ///
    /// - Parameter address: Its destination, `domain[:scope]/name`, if several have a migration of this id.
    public func confirmMigration(_ id: String, of address: String? = nil) async throws {
        try await inTurn(id, address, ofMany: { try await self.confirmRange(id) }) {
            try await MigrationRollback($0).confirm(id)
        }
    }

    private func inTurn(
        _ id: String, _ address: String?, ofMany: () async throws -> Void, _ body: (Ledger) async throws -> Void
    ) async throws {
        let snapshot = try await snapshot()
        var wanted: String?
        if let address {
            let key = try StorageKeyDescriptor(address: address)
            wanted = "\(StorageAddress(try snapshot.settings.place(of: key.domain), name: key.name))"
        }
        let survey = await ledgers(snapshot)
        var found = survey.readable.filter { found in
            found.page[id] != nil && wanted.map { $0.utf8.elementsEqual(found.place.address.utf8) } ?? true
        }
        // Where it has run counts before where it is not to.
        if found.contains(where: { $0.page[id]?.state != .superseded }) {
            found.removeAll { $0.page[id]?.state == .superseded }
        }
        guard let (only, page) = found.first else { throw Self.notRecorded(id, wanted, survey) }
        guard found.count == 1 else {
            let list = found.map { "'\($0.place.address)' in '\($0.place.open.name)'" }.joined(separator: ", ")
            throw MigrationError(
                .validationFailed, "the migration '\(id)' has been run for \(list); say which is meant")
        }
        if page[id]?.bulk != nil {
            try await loadPacks()
            return try await ofMany()
        }
        try await MigrationTurns.shared.alone(in: only.open, snapshot.settings) {
            try await body(survey.ledger(of: only))
        }
    }

    private static func notRecorded(_ id: String, _ address: String?, _ survey: LedgerSurvey) -> any Error {
        if let failure = survey.allFailures.first { return failure }
        if let address {
            return MigrationError(.validationFailed, "the migration '\(id)' has not been run for '\(address)'")
        }
        let ids = survey.readable.flatMap { $0.page.rows.map(\.id) }
        return MigrationError(.validationFailed, NearMigrations.unknown(id, among: ids, in: "the ledgers"))
    }
}

extension LedgerSurvey {
    /// What keeps pages from being found or read.
    var allFailures: [StorageError] {
        failures
            + pages.compactMap {
                guard case .failure(let error) = $0.content else { return nil }
                return StorageError(
                    error.code, "the ledger of migrations to '\($0.address)' in '\($0.open.name)': \(error.message)",
                    hint: error.hint)
            }
    }
}
