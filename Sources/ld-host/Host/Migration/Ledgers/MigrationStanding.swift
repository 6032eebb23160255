internal import HostGround
internal import LocalDataAPI

/// How every migration stands: those that are known, and those that the ledgers have.
struct MigrationStanding {
    private let settings: HostSettings
    private let survey: LedgerSurvey
    /// Rows that no known migration has taken.
    private var rest: [(address: String, row: LedgerRow)]

    init(_ survey: LedgerSurvey, _ settings: HostSettings) {
        self.survey = survey
        self.settings = settings
        rest = survey.readable.flatMap { found in found.page.rows.map { (found.place.address, $0) } }
    }

    /// Known migrations in their order, then the others in the order of their runs.
    mutating func all(_ known: [KnownMigration]) -> [MigrationStatus] {
        var all = known.map { status(of: $0) }
        for (address, row) in rest.sorted(by: { $0.row.committed < $1.row.committed }) {
            let place = row.pack.map { "in the pack '\($0)', which is not configured or no longer has it" }
            let isExpected =
                [.rolledBack, .superseded].contains(row.state) || row.isFinal || row.isFromFormerPlace
                || row.isDoneByApp
            let problem = "it has run, but this program does not know it; it was \(place ?? "an app's own")"
            all.append(
                MigrationStatus(nil, row.id, row.pack, row, at: address, row.status, isExpected ? nil : problem))
        }
        return all
    }

    private mutating func status(of migration: KnownMigration) -> MigrationStatus {
        let key = migration.destinationDescriptor
        var address = "\(key.domain)/\(key.name)"
        var problem: String?
        if case .single(let migration) = migration { problem = MigrationEngine.reasonToSkip(migration, settings) }
        do throws(StorageError) {
            address = "\(StorageAddress(try settings.place(of: key.domain), name: key.name))"
        } catch {
            problem = error.message
        }
        let row = take(migration.id, at: address)
        var state = row?.status ?? .notRun
        if let row {
            do throws(MigrationError) {
                try row.requireNoLater(than: migration.revision, at: address)
                if case .single(let migration) = migration { try row.requireSamePack(as: migration) }
            } catch {
                problem = error.message
            }
        } else if case .failure(let error)? = page(of: address)?.content {
            (state, problem) = (.unreadable, error.message)
        }
        return MigrationStatus(migration, migration.id, migration.pack, row, at: address, state, problem)
    }

    private func page(of address: String) -> LedgerSurvey.Page? {
        survey.pages.first { $0.address.hasBytes(of: address) }
    }

    private mutating func take(_ id: String, at address: String) -> LedgerRow? {
        guard
            let index = rest.firstIndex(where: { $0.row.id == id && $0.address.hasBytes(of: address) })
        else { return nil }
        return rest.remove(at: index).row
    }
}
