internal import HostGround
internal import HostMigration
internal import HostPlugins
internal import HostStores
internal import HostSync
package import LocalDataAPI

/// Brings the data of one container to the version of the code, a step at a time. Its order makes it safe to stop it at
/// any point: what an earlier run has left to remove is removed; all steps that are needed are checked together; then
/// each is run, and committed with its version.
struct ContainerRun: Sendable {
    let engine: MigrationEngine
    private var chain: ContainerChain
    private let destination: ResolvedKey
    private let ledger: Ledger

    init(_ chain: ContainerChain, _ engine: MigrationEngine) async throws {
        try chain.validate()
        self.engine = engine
        self.chain = chain
        do throws(StorageError) {
            destination = try await engine.access.resolve(KeyReference(chain.versionKey))
            ledger = try Ledger(engine.access, of: destination)
        } catch { throw Self.failure(of: chain.container, error) }
    }

    private var container: ContainerDefinition { chain.container }

    /// Runs all steps that the data needs.
    ///
    /// - Throws: `MigrationError` with the container or the step. Steps that were committed before stay; if it is known
    ///   beforehand that one of them fails, none is run.
    func run() async throws -> ContainerProgress {
        do { return try await bringUpToDate() } catch let error as StorageError {
            throw Self.failure(of: container, error)
        }
    }

    private static func failure(of container: ContainerDefinition, _ error: StorageError) -> MigrationError {
        MigrationError(
            .storageFailed,
            "the container '\(container.name)' in '\(container.store)' cannot be migrated: \(error.message)",
            underlying: error)
    }

    private func bringUpToDate() async throws -> ContainerProgress {
        if try await isCurrent() { return ContainerProgress(from: container.version, to: container.version, steps: []) }
        return try await knowingAllKeys().runSteps()
    }

    /// The same with the version keys that its earlier runs have taken versions from.
    private func knowingAllKeys() async throws -> ContainerRun {
        var run = self
        run.chain = chain.knowing(versionKeys(in: try await ledger.page()))
        return run
    }

    /// The version keys that migrations of the container have removed.
    private func versionKeys(in page: LedgerPage) -> [String] {
        let removed = page.rows.filter { $0.isStep(of: chain) }.flatMap(\.removed)
        let keys = removed.compactMap { try? StorageKeyDescriptor(address: $0.address) }
        let names = keys.filter { $0.domain == container.store && ContainerVersionKey.isReserved($0.name) }.map(\.name)
        return Set(names).sorted()
    }

    private func runSteps() async throws -> ContainerProgress {
        var (from, done): (Int??, [Int]) = (nil, [])
        for _ in 0..<chain.steps.count + Self.attempts {
            let isClean = try await finishRemovals()
            // Another process may have been killed since.
            guard let standing = try await plan() else { continue }
            let version: Int?
            switch standing {
            case .fresh: version = nil
            case .version(let number, _): version = number
            }
            if from == nil { from = .some(version) }
            if case .version(container.version, isStored: true) = standing {
                return ContainerProgress(from: from ?? nil, to: container.version, steps: done, isClean: isClean)
            }
            for step in chain.steps where step.from >= version ?? container.version {
                // If another process has done it, what that one removes has to be removed before the next step.
                guard try await migrate(chain.migration(of: step)) else { break }
                done.append(step.to)
            }
            if done.last == container.version {
                await warnOfStrays()
                return ContainerProgress(
                    from: from ?? nil, to: container.version, steps: done, isClean: try await finishRemovals())
            }
            if version == nil || version == container.version { _ = try await migrate(chain.stamp) }
        }
        throw failure("is changed again and again by other programs; end them and try again")
    }

    /// Logs which values below the container's own prefix no setting reads, as a step may have forgotten them.
    private func warnOfStrays() async {
        guard !container.properties.isEmpty,
            let names = try? await looking.names(in: container.store, prefix: container.derivedPrefix)
        else { return }
        let known = Set(container.properties.map(\.key) + container.otherNames)
        let strays = names.filter { !known.contains($0) && !ContainerVersionKey.isReserved($0) }
        guard !strays.isEmpty else { return }
        let list = strays.prefix(5).map { "'\($0)'" }.joined(separator: ", ")
        engine.snapshot.log(
            .warning, "containers",
            "no setting of '\(container.name)' reads \(list)\(strays.count > 5 ? ", ..." : ""); move or remove such values "
                + "in a step, or name their keys in otherKeys")
    }

    /// How often it is looked where the data stands, besides once for each step.
    private static let attempts = 3

    /// The plan of the steps; nothing is done.
    func entries() async throws -> [MigrationPlan.Entry] {
        let transaction = MigrationTransaction(engine.access)
        let standing = try await chain.standing(in: transaction, MigrationContext())
        let migrations = try migrations(from: standing)
        return await MigrationEngine.$isMigrating.withValue(true) {
            await MigrationPlanner(engine).entries(of: migrations.map { .single($0) })
        }
    }

    /// Undoes the step that led to the stored version.
    func rollback() async throws {
        let run = try await knowingAllKeys()
        let found = try await run.chain.versions(in: looking, MigrationContext())
        guard let version = found?.number else { throw failure("has no version, so no step is undone") }
        // A version that an earlier release has stored since, without any data, would be in the way of the old one.
        if found?.isClean == false, version == container.version { _ = try await migrate(run.chain.stamp) }
        try await engine.rollback(chain.versionKey, id: "\(chain.idPrefix)\(version)")
    }

    /// The version of the stored data; `nil` if no version is stored.
    func storedVersion() async throws -> Int? {
        try await chain.versions(in: looking, MigrationContext())?.number
    }

    /// Decides between two versions.
    func decide(_ choice: ContainerVersionChoice) async throws {
        let chain = try await knowingAllKeys().chain
        guard try await engine.migrate(chain.decision(choice), onConflict: nil).outcome != .nothingToDo else {
            throw failure("does not have two versions, so there is nothing to decide")
        }
    }

    /// The stores as they are, for a look that nothing is based on.
    private var looking: MigrationTransaction { MigrationTransaction(engine.access, keepsViews: false) }

    /// Whether nothing needs to be done, as at most launches.
    private func isCurrent() async throws -> Bool {
        let looking = looking
        let own = try? await ContainerVersion.read(container.versionKey.name, of: container, in: looking)
        guard own?.number == container.version else { return false }
        let page = try await ledger.page()
        try requireOwn(page)
        // An earlier release, with another version key, may have been run since.
        for key in chain.knowing(versionKeys(in: page)).formerVersionKeys where !key.isShared {
            let former = try? await ContainerVersion.read(key.name, of: container, in: looking)
            guard former == nil || former?.number == container.version else { return false }
        }
        // As long as a batch is being put in place, the version may be there before the values are.
        let settings = engine.settings
        let batches = try await onIOThread { () throws(StorageError) in
            try BatchIntent.journal(settings).pending(kind: BatchIntent.kind)
        }
        return batches.isEmpty && page.rows.allSatisfy { !$0.isPending }
    }

    /// Removes what earlier runs have left, which the next step must not find. It may be that of a step that is no
    /// longer declared.
    ///
    /// - Returns: Whether that is done. What the last step removes does no harm if it stays for now.
    private func finishRemovals() async throws -> Bool {
        let page = try await ledger.page()
        try requireOwn(page)
        var isClean = true
        for row in page.rows where row.isPending && row.isStep(of: chain) {
            if row.state == .unverified { try await requireUndone(row) }
            guard let migration = chain.migrations.first(where: { $0.id == row.id }) else {
                throw failure(
                    "was left by the step '\(row.id)', which is no longer declared; run: ld-host migrate resume")
            }
            if try await engine.migrate(migration, onConflict: nil).outcome == .cleanupPending {
                guard row.id == "\(chain.idPrefix)\(container.version)" else { throw Self.stillThere(migration) }
                isClean = false
            }
        }
        return isClean
    }

    /// - Throws: `storageFailed` if the data has the version of a step whose values did not read back as written.
    private func requireUndone(_ row: LedgerRow) async throws {
        guard let version = try await storedVersion(), row.id == "\(chain.idPrefix)\(version)" else { return }
        throw MigrationError(
            .storageFailed,
            "'\(row.id)' wrote values that '\(destination.open.name)' did not give back; the values that it moved are still "
                + "there under their old keys. Mend the store, then set the version back: "
                + "ld-host set '\(container.store)/\(container.versionKey.name)' \(version - 1)")
    }

    /// Where the data stands; with all steps tried out if there are several, so that the last one is known to work
    /// before the first one is committed; `nil` if a step has something left to remove.
    private func plan() async throws -> ContainerChain.Standing? {
        return try await MigrationTurns.shared.alone(
            in: destination.open, completingBatchesOf: engine.snapshot, at: destination.address.place
        ) {
            let isLeft = try await ledger.page().rows.contains { row in
                row.isPending && row.state != .unverified && row.isStep(of: chain)
                    && row.id != "\(chain.idPrefix)\(container.version)"
            }
            if isLeft { return nil }
            let transaction = MigrationTransaction(engine.access)
            let standing = try await chain.standing(in: transaction, MigrationContext())
            let migrations = try migrations(from: standing)
            guard migrations.count > 1 else { return standing }
            let entries = await MigrationEngine.$isMigrating.withValue(true) {
                await SharedContainerTrace.$current.withValue(SharedContainerTrace()) {
                    await MigrationPlanner(engine).entries(of: migrations.map { .single($0) })
                }
            }
            if let refused = entries.first(where: { $0.decision == .refused }) {
                throw MigrationError(
                    MigrationError.Code(rawValue: refused.error ?? ""), "\(refused.why); no step was run")
            }
            return standing
        }
    }

    private func migrations(from standing: ContainerChain.Standing) throws(MigrationError) -> [AnyStorageMigration] {
        guard case .version(let version, let isStored) = standing else { return [chain.stamp] }
        try chain.requireSteps(from: version)
        let steps = chain.steps.filter { $0.from >= version }.map { chain.migration(of: $0) }
        return steps.isEmpty && !isStored ? [chain.stamp] : steps
    }

    /// - Returns: Whether it changed something. What it has left to remove is removed before anything else.
    private func migrate(_ migration: AnyStorageMigration) async throws -> Bool {
        switch try await engine.migrate(migration, onConflict: nil).outcome {
        case .migrated: return true
        case .cleanupPending:
            _ = try await finishRemovals()
            return true
        default: return false
        }
    }

    private static func stillThere(_ migration: AnyStorageMigration) -> MigrationError {
        MigrationError(
            .storageFailed,
            "the migration '\(migration.id)' has moved its values, but the old ones could not be removed; the log says why. "
                + "Open the container again: the next step waits for that")
    }

    /// - Throws: `validationFailed` if the version key is that of another container.
    private func requireOwn(_ page: LedgerPage) throws {
        let names = [container.name] + container.formerNames + chain.steps.compactMap(\.name)
        let own = names.map { chain.idPrefix(of: $0) }
        for row in page.rows where row.origin == .container && row.state != .rolledBack {
            guard !own.contains(where: { row.id.hasPrefix($0) }) else { continue }
            throw failure(
                "has the version key '\(container.store)/\(container.versionKey.name)', which the migration '\(row.id)' has "
                    + "written; give each container its own versionKey, or name a type's earlier name in formerNames")
        }
    }

    private func failure(_ what: String) -> MigrationError {
        MigrationError(.validationFailed, "the container '\(container.name)' in '\(container.store)' \(what)")
    }
}

extension LedgerRow {
    /// Whether its data has come, and what it removes may still be there.
    fileprivate var isPending: Bool { state == .published || state == .copying || state == .unverified }
}

extension StorageRouter {
    /// Migrates a container that has no Swift type.
    @discardableResult
    package func migrateContainer(_ chain: ContainerChain) async throws -> ContainerProgress {
        try await migrating { try await ContainerRun(chain, $0).run() }
    }
}

extension LedgerRow {
    fileprivate func isStep(of chain: ContainerChain) -> Bool {
        origin == .container && id.hasPrefix(chain.idPrefix)
    }
}
