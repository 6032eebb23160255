internal import Glibc
internal import LocalDataAPI

/// Wraps a migration, and appends a byte to a file for each of its runs.
struct CountedMigration<Base: StorageMigration>: StorageMigration {
    let base: Base

    var destinationKey: StorageKey<Base.Value> { base.destinationKey }
    var id: String { base.id }
    var revision: Int { base.revision }
    var sources: [AnyStorageKey] { base.sources }
    var dependencies: [String] { base.dependencies }
    var conflictPolicy: MigrationConflictPolicy { base.conflictPolicy }
    var effect: MigrationEffect { base.effect }
    var summary: String { base.summary }

    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        try await base.shouldMigrate(using: router, context: context)
    }

    func migrate(using router: any StorageProviding, context: MigrationContext) async throws -> MigrationResult {
        try RunCount.add()
        return try await base.migrate(using: router, context: context)
    }

    func validate() throws(MigrationError) { try base.validate() }
}

extension AnyStorageMigration {
    /// Wraps a migration in a counter.
    static func counted(_ migration: some StorageMigration) -> AnyStorageMigration {
        AnyStorageMigration(CountedMigration(base: migration))
    }
}

/// The file that the variable `EXERCISE_RUNS` names, if it is set: it has a byte for each run of a migration.
enum RunCount {
    static func add() throws(StorageError) {
        guard let path = getenv("EXERCISE_RUNS") else { return }
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(file) }
        guard file >= 0, write(file, "+", 1) == 1 else {
            throw StorageError(.fileError, "the file of EXERCISE_RUNS cannot be written to")
        }
    }
}
