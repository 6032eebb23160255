internal import FoundationEssentials
package import HostGround
internal import HostPlugins
internal import HostStores
internal import LocalDataAPI

/// What the ledgers of all stores say, and what is done about it. A store that cannot list what it holds is asked for
/// the destinations of known migrations.
extension MigrationEngine {
    /// How every migration stands that is known, or that the ledgers have.
    ///
    /// - Parameter plan: The plan of a run now.
    package func status(
        plan: MigrationPlan?
    ) async throws -> MigrationOverview {
        var failures: [StorageError] = []
        do { try await loadPacks() } catch {
            let error = error as? MigrationError ?? MigrationError(.packUnavailable, "\(error)")
            failures.append(
                StorageError(error.underlying?.code ?? .unsupported, error.message, hint: error.underlying?.hint ?? ""))
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
    package func records() async throws -> MigrationHistory {
        let survey = await ledgers()
        let records = survey.readable.flatMap { $0.page.rows.map(\.record) }
        return MigrationHistory(
            records: records.sorted { ($0.date, $0.id) < ($1.date, $1.id) }, failures: survey.allFailures)
    }

    /// Undoes a migration by its id.
    ///
    /// - Parameter address: Its destination, if several have a migration of this id.
    package func rollback(
        _ id: String, of address: String?, progress: @escaping @Sendable (StepProgress) -> Void
    ) async throws {
        try await alone(id, address, ofMany: { try await self.rollbackRange(id, progress) }) {
            try await $0.rollback(id)
        }
    }

    /// Makes a migration final by its id.
    ///
    /// - Parameter address: Its destination, if several have a migration of this id.
    package func confirm(_ id: String, of address: String?) async throws {
        try await alone(id, address, ofMany: { try await self.confirmRange(id) }) { try await $0.confirm(id) }
    }

    private func alone(
        _ id: String, _ address: String?, ofMany: () async throws -> Void, _ body: (Ledger) async throws -> Void
    ) async throws {
        var wanted: String?
        if let address {
            let key = try StorageKeyDescriptor(address: address)
            wanted = "\(StorageAddress(try snapshot.settings.place(of: key.domain), name: key.name))"
        }
        let survey = await ledgers()
        var found = survey.readable.filter { found in
            found.page[id] != nil && wanted.map { $0.hasBytes(of: found.place.address) } ?? true
        }
        // Where it has run counts before where it is not to.
        if found.contains(where: { $0.page[id]?.state != .superseded }) {
            found.removeAll { $0.page[id]?.state == .superseded }
        }
        guard let (only, page) = found.first else { throw Self.notRecorded(id, wanted, survey) }
        guard found.count == 1 else {
            let list = found.map { "'\($0.place.address)' in '\($0.place.open.name)'" }.joined(separator: ", ")
            throw MigrationError(
                .validationFailed, "the migration '\(id)' has run for \(list); name one of them")
        }
        if page[id]?.bulk != nil {
            try await loadPacks()
            return try await ofMany()
        }
        try await MigrationTurns.shared.alone(in: only.open, completingBatchesOf: snapshot) {
            try await body(try survey.ledger(of: only))
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
    /// Reasons why pages cannot be found or read.
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

extension MigrationStatus {
    /// - Parameters:
    ///   - migration: `nil` if only the ledger knows it.
    ///   - row: The ledger's row; `nil` if it has none.
    init(
        _ migration: KnownMigration?, _ id: String, _ pack: MigrationPackIdentity?, _ row: LedgerRow?,
        at address: String, _ state: State, _ problem: String?
    ) {
        self.init(
            migration: id, summary: migration?.summary ?? "", pack: pack.map { "\($0)" }, destination: address,
            revision: migration?.revision, recordedRevision: row?.revision, state: state, committed: row?.record.date,
            keptUntil: row?.keptUntil, left: row?.left ?? [], unwiped: row?.unwiped,
            superseded: row?.superseded?.map(\.address), problem: problem)
    }
}

extension LedgerRow {
    /// Until when its images are kept.
    var keptUntil: Date? {
        guard bulk != nil || changes.contains(where: { $0.image != nil }) else { return nil }
        return expires.map { Date(timeIntervalSince1970: Double($0) / 1e9) }
    }

    /// Whether nothing of it is left to do or to undo.
    var isFinal: Bool { state == .clean && keptUntil == nil && unwiped == nil }

    /// Whether an app did it itself, so that no other program ever knows it, and left nothing to do: its images go by
    /// themselves.
    var isDoneByApp: Bool { pack == nil && (state == .clean && unwiped == nil || isOnlyOnDemand) }

    /// Whether it is a move of a key whose place was changed: it is known only as long as there is something to move.
    var isFromFormerPlace: Bool { origin == .formerPlace }

    /// Addresses that it was to remove, and someone had changed.
    var left: [String] { removed.filter { $0.isLeft == true }.map(\.address) }

    var status: MigrationStatus.State {
        switch state {
        case .published where isOnlyOnDemand: .notRun
        case .published: bulk == nil ? .cleanupPending : bulk?.isUndone == true ? .rollingBack : .interrupted
        case .copying: .interrupted
        case .clean: .done
        case .unverified: .unverified
        case .rolledBack: .rolledBack
        case .superseded: .superseded
        }
    }
}
