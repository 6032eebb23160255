internal import FoundationEssentials
public import LocalDataAPI

/// What the ledgers of all stores say, and what is done about it. A store that cannot list what it holds is asked for
/// the destinations of known migrations.
extension StorageRouter {
    /// How every migration stands that is known, or that the ledgers have.
    ///
    /// - Returns: Also what keeps ledgers from being found, and packs from being used.
    public func migrationStatus() async throws -> (migrations: [MigrationStatus], failures: [StorageError]) {
        let snapshot = try await snapshot()
        var failures: [StorageError] = []
        do { try await loadPacks() } catch {
            let error = error as? MigrationError ?? MigrationError(.packUnavailable, "\(error)")
            failures.append(StorageError(.unsupported, error.message, hint: error.underlying?.hint ?? ""))
        }
        let survey = await ledgers(snapshot)
        var standing = MigrationStanding(survey, snapshot.settings)
        return (standing.all(migrationRegistry.known), failures + survey.allFailures)
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
    /// - Parameter address: Its destination, `domain[:scope]/name`, if several have a migration of this id.
    public func rollbackMigration(_ id: String, of address: String? = nil) async throws {
        try await inTurn(id, address, ofMany: { try await self.rollbackRange(id) }) {
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
        let found = survey.readable.filter { found in
            found.page[id] != nil && wanted.map { $0.utf8.elementsEqual(found.place.address.utf8) } ?? true
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
