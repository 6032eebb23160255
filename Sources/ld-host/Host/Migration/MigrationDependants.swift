internal import LocalDataAPI

/// Keeps migrations of a sweep from running whose dependencies failed in it, or are not there.
struct MigrationDependants {
    private let registry: MigrationRegistry
    private var failed: Set<String> = []

    init(_ registry: MigrationRegistry) { self.registry = registry }

    /// Takes note of one that failed, or was not run.
    mutating func fail(_ id: String) { failed.insert(id) }

    /// - Throws: `unresolvedDependency` naming what the migration waits for.
    func check(_ migration: KnownMigration) throws(MigrationError) {
        for id in migration.dependencies {
            guard !failed.contains(id) else {
                throw MigrationError(
                    .unresolvedDependency,
                    "the migration '\(migration.id)' was not run: it depends on '\(id)', which failed")
            }
            guard registry.known(id) != nil else {
                throw MigrationError(.unresolvedDependency, "it depends on '\(id)', which is not registered")
            }
        }
    }
}
