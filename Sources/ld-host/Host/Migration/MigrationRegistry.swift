internal import LocalDataAPI
internal import Synchronization

/// The migrations that a router knows, and those that are running.
final class MigrationRegistry: Sendable {
    private struct State {
        var migrations: [AnyStorageMigration] = []
        var running: [String: Task<MigrationResult, any Error>] = [:]
        var preferences: [String: AnyCodable] = [:]
    }

    private let state = Mutex(State())

    /// Choices of the user, for contexts.
    var preferences: [String: AnyCodable] {
        get { state.withLock { $0.preferences } }
        set { state.withLock { $0.preferences = newValue } }
    }

    /// In the order of their registration.
    var migrations: [AnyStorageMigration] { state.withLock { $0.migrations } }

    /// The migration of an id.
    func migration(_ id: String) -> AnyStorageMigration? { migrations.first { $0.id == id } }

    /// Whether none is registered.
    var isEmpty: Bool { state.withLock { $0.migrations.isEmpty } }

    /// Throws what ``add(_:)`` would.
    func check(_ added: [AnyStorageMigration]) throws(MigrationError) { _ = try Self.join(migrations, added) }

    /// Adds migrations; one with the same id and destination takes the place of the earlier one.
    ///
    /// - Throws: What is wrong with one of them, or with all together; then none is added.
    func add(_ added: [AnyStorageMigration]) throws(MigrationError) {
        guard !added.isEmpty else { return }
        try state.withLock { state throws(MigrationError) in
            state.migrations = try Self.join(state.migrations, added)
        }
    }

    private static func join(
        _ known: [AnyStorageMigration], _ added: [AnyStorageMigration]
    ) throws(MigrationError) -> [AnyStorageMigration] {
        var migrations = known
        var indices = Dictionary(
            known.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        for migration in added {
            try migration.validate()
            guard let index = indices[migration.id] else {
                indices[migration.id] = migrations.count
                migrations.append(migration)
                continue
            }
            let (old, new) = (migrations[index].destinationDescriptor, migration.destinationDescriptor)
            guard old.domain == new.domain, old.name == new.name else {
                throw MigrationError(
                    .validationFailed,
                    "the migration '\(migration.id)' is there for '\(old.domain)/\(old.name)' and for "
                        + "'\(new.domain)/\(new.name)'; give one of them another id")
            }
            migrations[index] = migration
        }
        _ = try MigrationOrder(migrations).sorted()
        return migrations
    }

    /// Runs what nobody runs yet; who comes meanwhile gets the same result.
    func once(
        _ name: String, _ body: @escaping @Sendable () async throws -> MigrationResult
    ) async throws -> MigrationResult {
        let task = state.withLock { state in
            if let running = state.running[name] { return running }
            let task = Task(executorPreference: IOExecutor.shared) {
                defer { self.state.withLock { $0.running[name] = nil } }
                return try await body()
            }
            state.running[name] = task
            return task
        }
        return try await task.value
    }
}
