internal import FoundationEssentials
package import HostGround
internal import HostPlugins
package import HostStores
package import HostSync
package import LocalDataAPI

/// Runs migrations: those that are registered and those of packs, on the stores of one snapshot.
package struct MigrationEngine: Sendable {
    package let access: StoreAccess
    package let registry: MigrationRegistry
    /// Whether this device leads its sync group; `nil` if it is in none, or nothing carries its values.
    let standing: @Sendable () async throws(StorageError) -> SyncStanding?
    /// Whether another device of the group has published a value of a key that this device's app does not have.
    let isKeptAside: @Sendable (ResolvedKey) async throws(StorageError) -> Bool
    /// Stores what another device of the group has published of such a key where this device would have it.
    let adopt: @Sendable (AnyStorageKey, ResolvedKey) async throws(StorageError) -> Void
    /// Whether it is sync that runs migrations.
    package var isOfSync = false

    package init(
        access: StoreAccess, registry: MigrationRegistry,
        standing: @escaping @Sendable () async throws(StorageError) -> SyncStanding?,
        isKeptAside: @escaping @Sendable (ResolvedKey) async throws(StorageError) -> Bool,
        adopt: @escaping @Sendable (AnyStorageKey, ResolvedKey) async throws(StorageError) -> Void
    ) {
        self.access = access
        self.registry = registry
        self.standing = standing
        self.isKeptAside = isKeptAside
        self.adopt = adopt
    }

    package var snapshot: RouterSnapshot { access.snapshot }
    package var settings: HostSettings { snapshot.settings }

    /// Whether this task is a migration's.
    @TaskLocal package static var isMigrating = false

    /// The migrations that bring data to a key: from where it was before, those that are registered for it, and its own
    /// at last.
    func migrations(for key: AnyStorageKey) async throws -> [AnyStorageMigration] {
        try await loadPacks()
        let address = StorageAddress(try settings.place(of: key.descriptor.domain), name: key.descriptor.name)
        let own = key.migration
        var found = registry.migrations.filter {
            guard $0.id != own?.id, let place = try? settings.place(of: $0.destinationDescriptor.domain) else {
                return false
            }
            return StorageAddress(place, name: $0.destinationDescriptor.name) == address
        }
        if let own {
            let destination = own.destinationDescriptor
            guard StorageAddress(try settings.place(of: destination.domain), name: destination.name) == address else {
                throw MigrationError(
                    .validationFailed,
                    "the migration '\(own.id)' of the key '\(address)' is for '\(destination.domain)/\(destination.name)'"
                ).naming(own.id)
            }
            found.append(own)
        }
        // What the key itself had elsewhere is newer than what its migrations would bring.
        if let former = try await migrationFromFormerPlace(of: key), !isDeclared(former, in: found) {
            return [former] + found
        }
        return found
    }

    /// Brings data to a key that has no value, if there is any.
    ///
    /// - Parameter path: The ids of the migrations that need it.
    package func bringData(to key: AnyStorageKey, for path: [String] = []) async throws {
        let migrations = try await migrations(for: key)
        let ranges = try await bulkMigrations(for: key)
        guard !migrations.isEmpty || !ranges.isEmpty else { return }
        guard !Self.isMigrating else {
            throw MigrationError(
                .migrationInProgress,
                "'\(key.descriptor.domain)/\(key.descriptor.name)' was asked for by a migration, and has one itself; "
                    + "a migration has to use the router that it is given")
        }
        for migration in migrations where migration.effect == .brings && !path.contains(migration.id) {
            _ = try await migrate(migration, onConflict: nil, after: path)
        }
        for migration in ranges { try await bring(key, by: migration) }
        if path.isEmpty { try await requireNothingWaits(for: key, migrations) }
    }

    /// Whether one of a key's migrations has the source of another.
    func isDeclared(_ former: AnyStorageMigration, in migrations: [AnyStorageMigration]) -> Bool {
        guard let source = former.sources.first, let place = source.place else { return true }
        return migrations.contains { migration in
            migration.sources.contains {
                $0.descriptor.name.hasBytes(of: source.descriptor.name)
                    && ($0.place ?? (try? settings.place(of: $0.descriptor.domain)))?.isSame(as: place) == true
            }
        }
    }

    /// Runs a migration after those that it depends on, once at a time.
    ///
    /// - Parameter areDependenciesDone: Whether those have just been run.
    /// - Throws: `MigrationError` that names it.
    package func migrate(
        _ migration: AnyStorageMigration, onConflict: MigrationConflictPolicy?, after path: [String] = [],
        areDependenciesDone: Bool = false
    ) async throws -> MigrationResult {
        do {
            if let reason = Self.reasonToSkip(migration, snapshot.settings) {
                return MigrationResult(success: true, outcome: .skipped(reason: reason))
            }
            if let reason = try await reasonToWait(migration) {
                return MigrationResult(success: true, outcome: .skipped(reason: reason))
            }
            if !areDependenciesDone { try await runDependencies(of: .single(migration), path) }
            if !Self.isMigrating {
                try await bringSources(of: migration, path)
                try await adoptSources(of: migration)
            }
            // A key that another migration needs may be of a release that this user has left out.
            let reference = KeyReference(migration.destinationKey)
            let destination =
                try await path.isEmpty ? access.resolve(reference) : access.resolveUnlisted(reference)
            let policy = onConflict ?? migration.conflictPolicy
            let result = try await registry.once("\(migration.id)\n\(destination.address)\n\(policy)") {
                try await Self.$isMigrating.withValue(true) {
                    let run = MigrationRun(
                        engine: self, migration: migration, destination: destination, policy: policy,
                        ledger: try Ledger(access, of: destination))
                    return try await MigrationTurns.shared.alone(
                        in: destination.open, completingBatchesOf: snapshot, at: destination.address.place
                    ) {
                        try await run.run()
                    }
                }
            }
            if result.outcome == .migrated { registry.note(migration.id, in: destination.open.name) }
            return result
        } catch {
            throw MigrationError(of: migration.id, error)
        }
    }

    /// Why a migration is not for this device, if so.
    static func reasonToSkip(_ migration: AnyStorageMigration, _ settings: HostSettings) -> String? {
        let key = migration.destinationDescriptor
        guard !key.availability.isAvailable(on: settings.role) else { return nil }
        return "'\(key.domain)/\(key.name)' is available as \(key.availability.rawValue), and this device's role is "
            + "'\(settings.role.rawValue)'"
    }

    func runDependencies(of migration: KnownMigration, _ path: [String]) async throws {
        for id in migration.dependencies {
            guard let dependency = registry.known(id) else {
                throw MigrationError(.unresolvedDependency, "it depends on '\(id)', which is not registered")
            }
            guard id != migration.id, !path.contains(id) else {
                throw MigrationError(.unresolvedDependency, "it depends on '\(id)', which depends on it")
            }
            _ = try await migrate(dependency, onConflict: nil, after: path + [migration.id])
        }
    }

    /// Brings data to the sources of a migration that have none, if they have migrations themselves, or were at other
    /// places: a user may have left out the releases in which the app would have read them.
    private func bringSources(of migration: AnyStorageMigration, _ path: [String]) async throws {
        for (source, _) in try await emptySources(of: migration) {
            try await bringData(to: source, for: path + [migration.id])
        }
        // A key that returned to a place and got another name in one upgrade has an older value there.
        for source in migration.sources where source.place == nil {
            let place = try settings.place(of: source.descriptor.domain)
            guard try await mayBeElsewhere(source.descriptor, place) else { continue }
            try await settlePlace(of: source, try await access.resolveUnlisted(KeyReference(source)))
        }
    }

    /// The sources of a migration that have no value, and to which another one may bring theirs.
    func emptySources(of migration: AnyStorageMigration) async throws -> [(key: AnyStorageKey, resolved: ResolvedKey)] {
        var empty: [(AnyStorageKey, ResolvedKey)] = []
        for source in migration.sources where source.place == nil {
            let place = try settings.place(of: source.descriptor.domain)
            let address = StorageAddress(place, name: source.descriptor.name)
            func isAddress(of migration: AnyStorageMigration) throws -> Bool {
                let destination = migration.destinationDescriptor
                return try StorageAddress(settings.place(of: destination.domain), name: destination.name) == address
            }
            // What is changed in place has its own order, and so have the migrations of a pack.
            guard try !isAddress(of: migration) else { continue }
            let isDestination =
                try source.hasMigration || registry.migrations.contains { try $0.pack == nil && isAddress(of: $0) }
            if !isDestination {
                guard try await mayBeElsewhere(source.descriptor, place) else { continue }
            }
            let resolved = try await access.resolveUnlisted(KeyReference(source))
            if try await !resolved.exists() { empty.append((source, resolved)) }
        }
        return empty
    }

    /// The facts that a migration may base its decision on.
    ///
    /// - Parameter planned: Changes that a plan assumes to be made.
    func migrationContext(
        for migration: AnyStorageMigration, _ page: LedgerPage, _ settings: HostSettings,
        over planned: PlannedChanges? = nil
    ) async throws -> MigrationContext {
        var rows = page.rows
        for id in migration.dependencies {
            switch registry.known(id) {
            case .single(let dependency):
                let resolved = try await access.resolve(KeyReference(dependency.destinationKey))
                let ledger = try Ledger(access, of: resolved)
                let page = if let page = planned?.page(of: resolved) { page } else { try await ledger.page() }
                rows += page.rows
            case .bulk(let dependency): rows += try await self.rows(of: dependency)
            case nil: continue
            }
        }
        let destination = try settings.routes[settings.place(of: migration.destinationDescriptor.domain).domain]
        return MigrationContext(
            appVersion: settings.appVersion, dataVersion: try await dataVersion(of: migration, settings, planned),
            deviceInfo: DeviceInfo(role: settings.role),
            migrationHistory: await migrationDates(with: destination?.store.name).merging(rows.dates) { $1 },
            userPreferences: settings.migrationPreferences.merging(registry.preferences) { $1 },
            systemInfo: .current(at: settings.folders.data))
    }

    /// When what was migrated, by whatever process, into the stores that known migrations bring data to: but for those
    /// that would have to be unlocked for it, unless it is the one that is named. Each store is read once, and again by
    /// a sweep.
    private func migrationDates(with own: String?) async -> [String: Date] {
        let domains = Set(
            registry.known.compactMap {
                try? snapshot.settings.place(of: $0.destinationDescriptor.domain).domain
            })
        let stores = Set(domains.compactMap { snapshot.settings.routes[$0]?.store.name } + (own.map { [$0] } ?? []))
        var dates: [String: Date] = [:]
        for store in stores {
            var known = registry.history(of: store)
            if known == nil, let slot = snapshot.slot(ofStore: store),
                let open = try? await onIOThread({ () throws(StorageError) in try slot.openIfNeeded() }),
                store == own || !open.isKeychain
            {
                let others = Set(snapshot.stores.map(\.settings.name)).subtracting([store])
                let rows = await ledgers(besides: others).readable.flatMap(\.page.rows)
                registry.setHistory(rows.dates, of: store)
                known = rows.dates
            }
            dates.merge(known ?? [:], uniquingKeysWith: max)
        }
        return dates
    }

    /// Whether a source of a migration that is done has data that it has not brought.
    ///
    /// - Parameter planned: Changes that a plan assumes to be made.
    func hasNewData(
        for migration: AnyStorageMigration, at destination: ResolvedKey, over planned: PlannedChanges? = nil
    ) async throws(StorageError) -> Bool {
        for key in migration.sources {
            let source = try await access.resolveUnlisted(KeyReference(key))
            if let change = planned?.change(of: source) {
                if change.isSet { return true }
            } else if try await hasNewData(source, besides: destination) {
                return true
            }
        }
        return false
    }

    /// The same for one source. What was changed in place has no mark of that in a store without attributes, as long as
    /// the configuration says which version wrote it.
    private func hasNewData(
        _ source: ResolvedKey, besides destination: ResolvedKey
    ) async throws(StorageError) -> Bool {
        guard try await source.exists() else { return false }
        guard source.address == destination.address, settings.dataVersion != nil else { return true }
        return try await source.storedAttributes()?.appVersion != nil
    }

    /// The earliest version that wrote one of the sources, or the destination if no source is known; `nil` if one is
    /// not known.
    private func dataVersion(
        of migration: AnyStorageMigration, _ settings: HostSettings, _ planned: PlannedChanges?
    ) async throws -> String? {
        var earliest: String?
        for key in migration.sources.isEmpty ? [migration.destinationKey] : migration.sources {
            let resolved = try await access.resolveUnlisted(KeyReference(key))
            let known: String?
            if let change = planned?.change(of: resolved) {
                guard change.isSet else { continue }
                known = planned?.dataVersion(of: resolved)
            } else {
                guard try await resolved.exists() else { continue }
                known = try await resolved.storedAttributes()?.appVersion
            }
            guard let version = known ?? settings.dataVersion else { return nil }
            // One that is no version has to come through, so that it is refused.
            guard let new = SemanticVersion(version) else { return version }
            if let old = earliest.flatMap({ SemanticVersion($0) }), old <= new { continue }
            earliest = version
        }
        return earliest
    }
}

extension [LedgerRow] {
    /// When each was committed last, but for what was undone or has not run.
    fileprivate var dates: [String: Date] {
        Dictionary(
            filter { $0.state != .rolledBack && $0.state != .superseded }.map { ($0.id, $0.record.date) },
            uniquingKeysWith: Swift.max)
    }
}
