public import HostGround
public import HostMigration
internal import HostPlugins
internal import HostStores
public import LocalDataAPI
internal import Synchronization

extension StorageRouter {
    /// Sets the app's identity, what else it says of itself, and the identifiers that keys leave out. Values stored
    /// under other identifiers stay where they are, so call this before the first use of a key. After an invalid
    /// identifier, every call throws `invalidConfiguration` until a valid one is set.
    ///
    /// ```swift
    /// await router.updateStorageConfiguration(StorageConfiguration(appIdentifier: "com.example.notes"))
    /// ```
    public func updateStorageConfiguration(_ configuration: StorageConfiguration) async {
        state.withLock { $0.places }.settingsChanged()
        await publishOrFail { $0.storage = configuration }
        await notePlaces()
    }

    /// Sets the sub-directory of this app's files. The next `get` of a typed key brings its value from the old
    /// location. After an invalid sub-directory, every call throws `invalidConfiguration` until a valid one is set.
    public func updateFileStorageConfiguration(_ configuration: FileStorageConfiguration) async {
        state.withLock { $0.places }.settingsChanged()
        await publishOrFail { $0.files = configuration }
        await notePlaces()
    }

    /// Sets where master keys are kept and how values are encrypted from now on. Stored values stay readable. After an
    /// invalid configuration, every call throws `invalidConfiguration` until a valid one is set.
    public func updateEncryptionConfiguration(_ configuration: EncryptionConfiguration) async {
        await publishOrFail { $0.encryption = configuration }
    }

    /// Sets how values get to the user's other devices. After an invalid configuration, every call throws
    /// `invalidConfiguration` until a valid one is set.
    public func updateSyncConfiguration(_ configuration: SyncConfiguration) async {
        await publishOrFail { $0.syncing = configuration }
    }

    /// Registers a provider of key material for keys and stores that name its source, replacing an earlier one.
    public func registerKeyMaterialProvider(
        _ provider: any KeyMaterialProviding, for source: KeyMaterialSource
    ) async {
        state.withLock { $0.providers }.register(provider, for: source)
    }

    /// Forgets every secret, for the end of a program.
    package func forgetSecrets() {
        keys.forget()
        state.withLock { $0.providers }.forgetSecrets()
    }

    /// Changes one value of the configuration while the router is in use, e.g. `domains.userDefaults` to another store.
    /// Calls in flight end on the stores that they began with.
    ///
    /// ```swift
    /// try await router.configure("domains.sessions", "memory")
    /// ```
    ///
    /// - Throws: `invalidConfiguration` if the result is invalid; then nothing has changed.
    public func configure(_ path: String, _ value: AnyCodable) async throws {
        state.withLock { $0.places }.settingsChanged()
        _ = try await onIOThread { () throws(StorageError) in
            try self.publish { (state) throws(StorageError) in
                var configuration = if let loaded = state.configuration { loaded } else { try self.load() }
                try configuration.set(path, value)
                state.configuration = configuration
            }
        }
        await notePlaces()
    }

    /// Notes where the catalogs' keys are: a later release may have them elsewhere, and so may an earlier one that is
    /// used again.
    private func notePlaces() async {
        // An invalid configuration is reported by the next call.
        if let snapshot = try? await snapshot() { await notePlaces(in: snapshot) }
    }

    func notePlaces(in snapshot: RouterSnapshot) async {
        guard let catalog = snapshot.catalog else { return }
        await engine(snapshot).note(
            catalog.entries.map { (.declared, $0.value.descriptor, $0.key.place) }, isUse: false)
    }

    /// The configuration in effect.
    public func configuration() async throws -> HostConfiguration {
        _ = try await snapshot()
        return try Self.effective(state.withLock { $0 })
    }

    /// Sends the library's log to the app's.
    public func updateLogHandler(_ log: any StorageLogHandler) async throws {
        _ = try await onIOThread { () throws(StorageError) in
            try self.publish { (state) throws(StorageError) in state.log = log }
        }
    }

    /// Adds a catalog. From then on, a key in no registered catalog is refused, except those of the containers and
    /// vaults that this process uses: these declare their keys by themselves, before or after.
    ///
    /// - Throws: `missingDescription` or `duplicateRegisteredKeys` with the keys; `MigrationError` if a key's migration
    ///   can never work. Then nothing has changed.
    public func registerCatalog(_ catalog: some StorageKeyCatalog) async throws {
        let migrations = catalog.allKeys.compactMap(\.migration)
        try migrationRegistry.check(migrations)
        _ = try await onIOThread { () throws(StorageError) in
            try self.publish { (state) throws(StorageError) in state.catalogs.append(catalog) }
        }
        try migrationRegistry.add(migrations)
        await notePlaces()
        await takeEarly(try await snapshot())
    }

    /// Adds a catalog that its type alone describes, as ``registerCatalog(_:migrateImmediately:)`` does.
    @discardableResult
    public func registerCatalog<Catalog: StaticStorageKeyCatalog>(
        _ type: Catalog.Type, migrateImmediately: Bool = false
    ) async throws -> MigrationReport {
        try await registerCatalog(type.init(), migrateImmediately: migrateImmediately)
    }

    /// Registers a plugin that is linked into this program, by the result of its `Plugin.export`.
    public func registerPlugin(named name: String, _ table: UnsafeRawPointer) async throws {
        let image = try PluginImage(linked: table, name: name)
        _ = try await onIOThread { () throws(StorageError) in
            try self.publish { (state) throws(StorageError) in state.linked.append(image) }
        }
    }
}
