internal import FoundationEssentials
internal import LocalDataAPI

/// What the ledgers of all stores say, and what is done about it. A store that cannot list what it holds is asked for
/// the destinations of known migrations.
extension MigrationEngine {
    /// How every migration stands that is known, or that the ledgers have.
    ///
    /// - Parameter plan: What a run would do now.
    func status(
        plan: MigrationPlan?
    ) async throws -> MigrationOverview {
        var failures: [StorageError] = []
        do { try await loadPacks() } catch {
            let error = error as? MigrationError ?? MigrationError(.packUnavailable, "\(error)")
            failures.append(StorageError(.unsupported, error.message, hint: error.underlying?.hint ?? ""))
        }
        let survey = await ledgers()
        var standing = MigrationStanding(survey, snapshot.settings)
        let former = try await formerPlaceMigrations().migrations.map { KnownMigration.single($0) }
        let next = Dictionary(
            (plan?.entries ?? []).map { ($0.migration, $0.decision) }, uniquingKeysWith: { first, _ in first })
        var all = standing.all(registry.known + former)
        for index in all.indices where all[index].revision != nil { all[index].next = next[all[index].migration] }
        return MigrationOverview(migrations: all + conflicts(in: plan), failures: failures + survey.allFailures)
    }

    /// Keys whose value may be at either of two places, which no migration is made for.
    private func conflicts(in plan: MigrationPlan?) -> [MigrationStatus] {
        let known = Set(registry.known.map(\.id))
        return (plan?.entries ?? []).filter { $0.decision == .refused && !known.contains($0.migration) }.map {
            MigrationStatus(
                migration: $0.migration, summary: $0.summary, pack: nil, destination: $0.destination, revision: nil,
                recordedRevision: nil, state: .notRun, committed: nil, keptUntil: nil, left: [], problem: $0.why)
        }
    }

    /// Everything that has been migrated, in the order of the runs, and what keeps ledgers from being read.
    func records() async throws -> MigrationHistory {
        let survey = await ledgers()
        let records = survey.readable.flatMap { $0.page.rows.map(\.record) }
        return MigrationHistory(
            records: records.sorted { ($0.date, $0.id) < ($1.date, $1.id) }, failures: survey.allFailures)
    }

    /// Undoes a migration by its id.
    ///
    /// - Parameter address: Its destination, if several have a migration of this id.
    func rollback(
        _ id: String, of address: String?, progress: @escaping @Sendable (StepProgress) -> Void
    ) async throws {
        try await inTurn(id, address, ofMany: { try await self.rollbackRange(id, progress) }) {
            try await MigrationRollback($0).run(id)
        }
    }

    /// Makes a migration final by its id.
    ///
    /// - Parameter address: Its destination, if several have a migration of this id.
    func confirm(_ id: String, of address: String?) async throws {
        try await inTurn(id, address, ofMany: { try await self.confirmRange(id) }) {
            try await MigrationRollback($0).confirm(id)
        }
    }

    private func inTurn(
        _ id: String, _ address: String?, ofMany: () async throws -> Void, _ body: (Ledger) async throws -> Void
    ) async throws {
        var wanted: String?
        if let address {
            let key = try StorageKeyDescriptor(address: address)
            wanted = "\(StorageAddress(try snapshot.settings.place(of: key.domain), name: key.name))"
        }
        let survey = await ledgers()
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
