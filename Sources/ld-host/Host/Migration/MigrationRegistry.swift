internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
package import LocalDataAPI
internal import Synchronization

/// The migrations that a router knows, and those that are running.
package final class MigrationRegistry: Sendable {
    private struct State {
        var known: [KnownMigration] = []
        /// The added migrations, without those of packs.
        var added: [KnownMigration] = []
        var packs: [KnownMigration] = []
        /// The snapshot whose packs these are.
        var packsOwner: UInt?
        var running: [String: Task<MigrationResult, any Error>] = [:]
        var preferences: [String: AnyCodable] = [:]
        /// When what was migrated into which store, as far as it has been read.
        var history: [String: [String: Date]] = [:]
        var containers = ContainerClaims()
    }

    private let state = Mutex(State())

    package init() {}

    /// Takes note of a container that is opened.
    ///
    /// - Returns: The other containers that were opened.
    /// - Throws: What ``ContainerClaims/claim(_:_:)`` throws.
    package func claim(_ type: String, _ definition: ContainerDefinition) throws(MigrationError)
        -> [ContainerDefinition]
    {
        try state.withLock { state throws(MigrationError) in
            try state.containers.claim(type, definition)
            return state.containers.others(than: type)
        }
    }

    /// Choices of the user, for contexts.
    package var preferences: [String: AnyCodable] {
        get { state.withLock { $0.preferences } }
        set { state.withLock { $0.preferences = newValue } }
    }

    /// When migrations into a store were committed, as it was last read, and those of this router since; `nil` if it
    /// has not been read.
    func history(of store: String) -> [String: Date]? { state.withLock { $0.history[store] } }

    /// Remembers what a store says.
    func setHistory(_ history: [String: Date], of store: String) { state.withLock { $0.history[store] = history } }

    /// Remembers a migration that was committed now.
    func note(_ id: String, in store: String) { state.withLock { $0.history[store]?[id] = Date() } }

    /// Has stores be read again.
    func forgetHistory() { state.withLock { $0.history = [:] } }

    /// All, in the order of their registration.
    var known: [KnownMigration] { state.withLock { $0.known } }

    /// The migrations of one key each, in the order of their registration.
    package var migrations: [AnyStorageMigration] {
        known.compactMap { if case .single(let migration) = $0 { migration } else { nil } }
    }

    /// The bulk migrations, in the order of their registration.
    var bulkMigrations: [AnyBulkMigration] {
        known.compactMap { if case .bulk(let migration) = $0 { migration } else { nil } }
    }

    /// The migration of an id.
    func known(_ id: String) -> KnownMigration? { known.first { $0.id == id } }

    /// The migration of an id, if it is one of a single key.
    func migration(_ id: String) -> AnyStorageMigration? { migrations.first { $0.id == id } }

    /// Whether none is registered.
    var isEmpty: Bool { state.withLock { $0.known.isEmpty } }

    /// Throws what ``add(_:)`` would.
    package func check(_ added: [AnyStorageMigration]) throws(MigrationError) {
        _ = try Self.join(known, added.map { .single($0) })
    }

    /// Adds migrations; one with the same id and destination takes the place of the earlier one.
    ///
    /// - Throws: What is wrong with one of them, or with all together; then none is added.
    package func add(_ added: [KnownMigration]) throws(MigrationError) {
        guard !added.isEmpty else { return }
        try state.withLock { state throws(MigrationError) in
            let all = try Self.join(state.added, added)
            state.known = try Self.join(state.packs, all)
            state.added = all
        }
    }

    /// Whether the migrations of a snapshot's packs are not there yet.
    func lacksPacks(of snapshot: UInt) -> Bool { state.withLock { $0.packsOwner != snapshot } }

    /// Puts the migrations of packs before all others, in place of those of other packs; one that the app has added
    /// with the same id and destination counts instead.
    ///
    /// - Throws: What is wrong with one of them, or with all together; then nothing has changed.
    func setPacks(_ packs: [KnownMigration], of snapshot: UInt) throws(MigrationError) {
        var names: [String: String] = [:]
        for migration in packs {
            let pack = migration.pack?.name ?? ""
            guard let other = names.updateValue(pack, forKey: migration.id), other != pack else { continue }
            throw MigrationError(
                .packUnavailable,
                "the migration '\(migration.id)' is in the packs '\(other)' and '\(pack)'; take one of them out of the "
                    + "configuration")
        }
        try state.withLock { state throws(MigrationError) in
            state.known = try Self.join(Self.join([], packs), state.added)
            state.packs = packs
            state.packsOwner = snapshot
        }
    }

    /// Adds migrations of one key each; see the other.
    package func add(_ added: [AnyStorageMigration]) throws(MigrationError) { try add(added.map { .single($0) }) }

    private static func join(
        _ known: [KnownMigration], _ added: [KnownMigration]
    ) throws(MigrationError) -> [KnownMigration] {
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
            let (old, new) = (migrations[index].destination, migration.destination)
            guard old == new else {
                throw MigrationError(
                    .validationFailed,
                    "'\(old)' and '\(new)' both have a migration '\(migration.id)'; give one of them another id"
                )
            }
            migrations[index] = migration
        }
        _ = try MigrationOrder(migrations).sorted()
        try MigrationSwap.refuse(in: migrations)
        return migrations
    }

    /// Runs work that is not running yet; a call that comes meanwhile gets the same result.
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
