internal import FoundationEssentials
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

    /// Those that are known in their order, then the others in the order of their runs.
    mutating func all(_ known: [KnownMigration]) -> [MigrationStatus] {
        var all = known.map { status(of: $0) }
        for (address, row) in rest.sorted(by: { $0.row.committed < $1.row.committed }) {
            let place = row.pack.map { "in the pack '\($0)', which is not configured or has it no more" }
            let isExpected = row.state == .rolledBack || row.state == .superseded || row.isFromFormerPlace
            let problem = "it has run, and is not known here; it was \(place ?? "an app's own")"
            all.append(
                MigrationStatus(
                    migration: row.id, summary: "", pack: row.pack.map { "\($0)" }, destination: address, revision: nil,
                    recordedRevision: row.revision, state: row.status, committed: row.record.date,
                    keptUntil: row.keptUntil, left: row.left, unwiped: row.unwiped,
                    superseded: row.superseded?.map(\.address),
                    problem: isExpected ? nil : problem))
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
        return MigrationStatus(
            migration: migration.id, summary: migration.summary,
            pack: migration.pack.map { "\($0)" }, destination: address,
            revision: migration.revision, recordedRevision: row?.revision, state: state, committed: row?.record.date,
            keptUntil: row?.keptUntil, left: row?.left ?? [], unwiped: row?.unwiped,
            superseded: row?.superseded?.map(\.address), problem: problem)
    }

    private func page(of address: String) -> LedgerSurvey.Page? {
        survey.pages.first { $0.address.utf8.elementsEqual(address.utf8) }
    }

    private mutating func take(_ id: String, at address: String) -> LedgerRow? {
        guard
            let index = rest.firstIndex(where: { $0.row.id == id && $0.address.utf8.elementsEqual(address.utf8) })
        else { return nil }
        return rest.remove(at: index).row
    }
}

extension LedgerRow {
    /// Until when its images are kept.
    var keptUntil: Date? {
        guard bulk != nil || changes.contains(where: { $0.image != nil }) else { return nil }
        return expires.map { Date(timeIntervalSince1970: Double($0) / 1e9) }
    }

    /// Whether it is a move of a key whose place was changed: it is known only as long as there is something to move.
    fileprivate var isFromFormerPlace: Bool { id.hasPrefix(FormerPlaceMigration.prefix) }

    /// Addresses that it was to remove, and someone had changed.
    var left: [String] { removed.filter { $0.isLeft == true }.map(\.address) }

    var status: MigrationStatus.State {
        switch state {
        case .published: bulk == nil ? .cleanupPending : .interrupted
        case .copying: .interrupted
        case .clean: .done
        case .unverified: .unverified
        case .rolledBack: .rolledBack
        case .superseded: .superseded
        }
    }
}
