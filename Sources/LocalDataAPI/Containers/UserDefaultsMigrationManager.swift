/// What a ``ContainerStep`` can call in place of its store's methods. Each call belongs to the step that runs in the
/// same task.
///
/// ```swift
/// ContainerStep(from: 2, to: 3) { _ in
///     try await UserDefaultsMigrationManager.migrateKey(
///         from: "MyApp.MySettings.isDebugMode", to: "MyApp.MySettings.debugMode", container: MySettings.self)
/// }
/// ```
///
/// - Note: Every call throws `validationFailed` outside of a step, and in a step of another container. The others are
///   those of ``ContainerStore``.
public enum UserDefaultsMigrationManager {
    /// Moves a value to another key; see ``ContainerStore/rename(_:to:)``.
    public static func migrateKey(
        from oldKey: ContainerKey, to newKey: ContainerKey, container: any UserDefaultsContainer.Type
    ) async throws {
        try await running(container, "migrateKey").rename(oldKey, to: newKey)
    }

    /// Moves values to other keys, all at once; see ``ContainerStore/renameAll(_:)``.
    public static func migrateBatch(
        _ renames: [(ContainerKey, ContainerKey)], container: any UserDefaultsContainer.Type
    ) async throws {
        try await running(container, "migrateBatch").renameAll(renames)
    }

    /// Moves all values whose keys begin with a prefix; see ``ContainerStore/movePrefix(_:to:except:)``.
    public static func migratePrefix(
        from oldPrefix: String, to newPrefix: String, container: any UserDefaultsContainer.Type
    ) async throws {
        try await running(container, "migratePrefix").movePrefix(oldPrefix, to: newPrefix)
    }

    /// Moves the values of a module: those whose keys are `from`, or begin with it and a dot.
    public static func migrateModule(
        from old: String, to new: String, container: any UserDefaultsContainer.Type
    ) async throws {
        try await running(container, "migrateModule").moveBranch(old, to: new)
    }

    /// Moves the values of a container: those whose keys are `from`, or begin with it and a dot.
    public static func migrateContainer(
        from old: String, to new: String, container: any UserDefaultsContainer.Type
    ) async throws {
        try await running(container, "migrateContainer").moveBranch(old, to: new)
    }

    /// Names an earlier key of the version. The runner takes the version from there with the step that runs, and stores
    /// it under the container's ``UserDefaultsContainer/versionKey``, whatever the new key is.
    ///
    /// - Throws: `validationFailed` if the earlier key has none of the forms that are reserved for versions, so that it
    ///   cannot be found by itself, and the container's version key does not name it in `formerly`.
    public static func migrateVersionKey(
        for container: any UserDefaultsContainer.Type, from oldKey: String, to newKey: String
    ) async throws {
        let store = try running(container, "migrateVersionKey")
        let key = store.container.versionKey
        let isKnown = ContainerVersionKey.isReserved(oldKey) || key.formerly.contains { $0.name == oldKey }
        guard isKnown, oldKey != key.name else {
            let failure = store.failure(
                "moves the version from '\(oldKey)' to '\(newKey)', but its versionKey is '\(key.name)'; declare "
                    + "ContainerVersionKey(\"\(newKey)\", formerly: [\"\(oldKey)\"])")
            store.probe?.note(failure: failure)
            throw failure
        }
        store.probe?.note(versionKey: oldKey, to: newKey, by: store.from)
    }

    private static func running(
        _ container: any UserDefaultsContainer.Type, _ call: String
    ) throws(MigrationError) -> ContainerStore {
        guard let store = ContainerStore.running else {
            throw MigrationError(
                .validationFailed,
                "\(call) was called for the container '\(container.name)' outside of a step; call it in the closure of a "
                    + "ContainerStep, so that it and the new version take effect as one")
        }
        guard store.container.name == container.name, store.container.prefix == container.prefix else {
            let failure = store.failure(
                "calls \(call) for the container '\(container.name)'; use move(_:to:) or take(_:from:) of its store")
            store.probe?.note(failure: failure)
            throw failure
        }
        return store
    }
}
