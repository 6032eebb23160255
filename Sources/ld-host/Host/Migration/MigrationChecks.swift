internal import HostGround
internal import HostPlugins
internal import LocalDataAPI

/// Checks that a run and a plan share.
extension AnyStorageMigration {
    /// Whether the destination is one of the sources.
    func changesInPlace(at destination: StorageAddress, _ settings: HostSettings) -> Bool {
        sources.contains { source in
            guard let place = source.place ?? (try? settings.place(of: source.descriptor.domain)) else { return false }
            return StorageAddress(place, name: source.descriptor.name) == destination
                && place.directory == destination.place.directory
        }
    }

    /// - Throws: `validationFailed` if a run reports success without its effect.
    func requireEffect(_ hasDestination: Bool, at destination: StorageAddress) throws(MigrationError) {
        guard hasDestination != (effect == .brings) else { return }
        let missing =
            switch effect {
            case .brings: "written nothing to '\(destination)'"
            case .removes: "not removed '\(destination)'"
            }
        throw MigrationError(.validationFailed, "it reports success, and has \(missing)")
    }
}

extension LedgerRow {
    /// - Throws: `newerRevision` if a later revision of the migration has run.
    func requireNoLater(than known: Int, at destination: String) throws(MigrationError) {
        guard revision <= known else {
            throw MigrationError(
                .newerRevision,
                "revision \(revision) has migrated '\(destination)', and this program has "
                    + "revision \(known); use a later version of the program")
        }
    }
}

extension MigrationError {
    /// The error if the destination has a value that must not be replaced.
    static func conflict(at destination: StorageAddress) -> MigrationError {
        MigrationError(.conflict, "'\(destination)' has a value, and there is data to migrate to it")
    }

    /// The error if the image of an old value is damaged.
    static func damagedImage(of address: StorageAddress, _ id: String) -> MigrationError {
        MigrationError(
            .validationFailed,
            "the old value of '\(address)' from before the migration '\(id)' is damaged, so it is not undone")
    }

    /// The error for a result without success.
    static func unsuccessful(_ result: MigrationResult) -> MigrationError {
        result.errors.first ?? MigrationError(.validationFailed, "it reports that it did not succeed")
    }
}

/// Keeps migrations from running whose dependencies failed in the same call, or are missing.
struct MigrationDependants {
    private let registry: MigrationRegistry
    private var failed: Set<String> = []

    init(_ registry: MigrationRegistry) { self.registry = registry }

    /// Records a migration that failed or was not run.
    mutating func fail(_ id: String) { failed.insert(id) }

    /// - Throws: `unresolvedDependency` naming the dependency.
    func check(_ migration: KnownMigration) throws(MigrationError) {
        for id in migration.dependencies {
            guard !failed.contains(id) else {
                throw MigrationError(
                    .unresolvedDependency,
                    "the migration '\(migration.id)' was not run: it depends on '\(id)', which failed"
                ).naming(migration.id)
            }
            guard registry.known(id) != nil else {
                throw MigrationError(.unresolvedDependency, "it depends on '\(id)', which is not registered")
            }
        }
    }
}

/// Two bulk migrations that each take values of the other: no order of them is right.
enum MigrationSwap {
    /// - Throws: `conflict` naming the two.
    static func refuse(in migrations: [KnownMigration]) throws(MigrationError) {
        let bulk = migrations.compactMap { if case .bulk(let migration) = $0 { migration } else { nil } }
        for (index, first) in bulk.enumerated() {
            for second in bulk[(index + 1)...]
            where first.destination.overlaps(second.source) && second.destination.overlaps(first.source) {
                throw MigrationError(
                    .conflict,
                    "the migrations '\(first.id)' and '\(second.id)' each take what the other brings; move one of the "
                        + "ranges to a third place first")
            }
        }
    }
}

extension MigrationRange {
    /// Whether a name can belong to both.
    func overlaps(_ other: MigrationRange) -> Bool {
        domain == other.domain && (contains(other.prefix) || other.contains(prefix))
    }
}
