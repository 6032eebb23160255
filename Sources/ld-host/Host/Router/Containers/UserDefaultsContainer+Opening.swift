internal import HostGround
public import HostMigration
public import LocalDataAPI

/// Opening containers.
extension UserDefaultsContainer {
    /// Creates a container and opens it: migrates its data, and loads all settings.
    ///
    /// It also declares the keys of its settings, so an app's catalogs need not list them, and audits show them.
    ///
    /// ```swift
    /// let settings = try await MySettings.open()
    /// let alices = try await MySettings.open(store: .userDefaults(suite: "alice"))
    /// ```
    ///
    /// - Parameters:
    ///   - router: The router to use.
    ///   - store: Where the settings are, if not in the type's own store, e.g. that of one user.
    /// - Throws: `MigrationError` with the container or the step that failed; then all settings are as the last
    ///   committed step has left them. `StorageError` if a setting cannot be read.
    public static func open(in router: StorageRouter = .shared, store: StorageDomain? = nil) async throws -> Self {
        let container = Self()
        try await container.open(in: router, store: store)
        return container
    }

    /// Opens this container: migrates its data, loads all settings, and writes those that were set before.
    ///
    /// - Parameters:
    ///   - router: The router to use.
    ///   - store: Where the settings are, if not in the type's own store.
    public func open(in router: StorageRouter = .shared, store: StorageDomain? = nil) async throws {
        try await UserDefaultsMigrationManager.migrateIfNeeded(Self.self, in: router, store: store)
        let definition = ContainerDefinition(of: Self.self, in: store)
        try await connect(definition, with: RoutedSettings(router))
    }
}

/// Migrating containers.
extension UserDefaultsMigrationManager {
    /// Brings the stored data of a container to the version of the code: runs each missing step and commits it with its
    /// version. ``UserDefaultsContainer/open(in:store:)`` does it first.
    ///
    /// - Several calls at once, in this process or others, run each step once.
    /// - Data without a version is taken to be of the container's `baseline`. A store that has nothing of the container
    ///   gets the current version, and no step runs.
    /// - If nothing needs to be done, it reads the version and the ledger's page, and takes no lock.
    ///
    /// - Throws: `MigrationError`: `newerRevision` if the data is of a later version; `validationFailed` if a step is
    ///   missing, the stored version is none, or values of an earlier release are where nothing declares; `conflict` if
    ///   a step would replace a value; what a step throws. If that can be known beforehand, no step is run.
    @discardableResult
    public static func migrateIfNeeded<Container: UserDefaultsContainer>(
        _ type: Container.Type, in router: StorageRouter = .shared, store: StorageDomain? = nil
    ) async throws -> ContainerProgress {
        try await migrate(type, router, store, after: [])
    }

    private static func migrate<Container: UserDefaultsContainer>(
        _ type: Container.Type, _ router: StorageRouter, _ store: StorageDomain?, after path: [String]
    ) async throws -> ContainerProgress {
        guard !MigrationEngine.isMigrating else {
            throw MigrationError(
                .migrationInProgress,
                "the container '\(type.name)' was opened by a migration; a step has to use the store that it is given")
        }
        let name = String(reflecting: type)
        guard !path.contains(name) else {
            throw MigrationError(
                .unresolvedDependency,
                "the containers '\((path + [name]).joined(separator: "', '"))' name each other in migratesAfter")
        }
        for other in type.migratesAfter {
            _ = try await migrate(other, router, other.store == type.store ? store : nil, after: path + [name])
        }
        return try await router.following { try await run(of: type, router, store).run() }
    }

    /// The version of a container's stored data; `nil` if no version is stored.
    ///
    /// - Throws: `validationFailed` if what is stored is no version.
    public static func getStoredVersion<Container: UserDefaultsContainer>(
        for type: Container.Type, in router: StorageRouter = .shared, store: StorageDomain? = nil
    ) async throws -> Int? {
        try await run(of: type, router, store).storedVersion()
    }

    /// The steps that ``migrateIfNeeded(_:in:store:)`` would run now. Nothing changes.
    public static func migrationPlan<Container: UserDefaultsContainer>(
        for type: Container.Type, in router: StorageRouter = .shared, store: StorageDomain? = nil
    ) async throws -> [MigrationPlan.Entry] {
        try await run(of: type, router, store).entries()
    }

    /// Undoes the last step of a container: the values and the version are as before it. Opening the container runs the
    /// step again, so this is for a program of the earlier version.
    ///
    /// - Throws: `validationFailed` if no step has run, a value was changed since, or the old values are no longer kept
    ///   (`migrations.grace`); then nothing has changed.
    public static func rollback<Container: UserDefaultsContainer>(
        _ type: Container.Type, in router: StorageRouter = .shared, store: StorageDomain? = nil
    ) async throws {
        try await router.following { try await run(of: type, router, store).rollback() }
    }

    /// Decides which settings count if a container has two versions: that is if an earlier release, with another
    /// version key, has stored settings after a later one had migrated those that were there. Then opening the
    /// container throws, and an app asks its user. Open the container again afterwards.
    ///
    /// What is replaced is kept for a while, as with any migration (`migrations.grace`).
    ///
    /// - Throws: `validationFailed` if the container does not have two versions.
    public static func keep<Container: UserDefaultsContainer>(
        _ choice: ContainerVersionChoice, of type: Container.Type, in router: StorageRouter = .shared,
        store: StorageDomain? = nil
    ) async throws {
        try await router.following { try await run(of: type, router, store).decide(choice) }
    }

    private static func run<Container: UserDefaultsContainer>(
        of type: Container.Type, _ router: StorageRouter, _ store: StorageDomain?
    ) async throws -> ContainerRun {
        router.declared.add(type.catalog(in: store))
        let engine = try await router.engine()
        let definition = ContainerDefinition(of: type, in: store)
        let others = try engine.registry.claim(String(reflecting: type), definition)
        let chain = ContainerChain(definition, type.steps, others: others, defaultStore: type.store)
        return try await ContainerRun(chain, engine)
    }
}
