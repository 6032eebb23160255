internal import ByteCoding

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A container and its steps, as migrations that a host runs: one for each step, whose destination is the version.
package struct ContainerChain: Sendable {
    /// The container as the code has it.
    package let container: ContainerDefinition
    /// Its steps, in the order of their versions.
    package let steps: [ContainerStep]
    /// Other containers that are known to be in the same places.
    package let others: [ContainerDefinition]
    /// Where the container is by default.
    let defaultStore: StorageDomain

    /// The chain of a container.
    package init(
        _ container: ContainerDefinition, _ steps: [ContainerStep], others: [ContainerDefinition] = [],
        defaultStore: StorageDomain? = nil
    ) {
        self.container = container
        self.steps = steps.sorted { ($0.from, $0.to) < ($1.from, $1.to) }
        self.others = others
        self.defaultStore = defaultStore ?? container.store
    }

    /// The key of the version.
    package var versionKey: AnyStorageKey { container.key(container.versionKey.name, serializer: .json) }

    /// What the ids of all its migrations begin with.
    package var idPrefix: String { "\(Self.idWord)\(container.store)/\(container.name) " }

    /// What the ids of the migrations of all containers begin with.
    package static let idWord = "container "

    /// The migration that stores the version of data that needs no step.
    package var stamp: AnyStorageMigration {
        migration("version", "stores the version of \(container.name)", sources: container.versionNames) {
            transaction, _ in
            try await needsStamp(transaction)
        } action: { _, _ in
        }
    }

    /// The migration of a step.
    package func migration(of step: ContainerStep) -> AnyStorageMigration { migration(of: step, after: []) }

    private func migration(of step: ContainerStep, after ids: [String]) -> AnyStorageMigration {
        migration(
            "\(step.to)", "takes \(container.name) from version \(step.from) to \(step.to)",
            sources: container.versionNames + sources(of: step), version: step.to, fingerprint: fingerprint(of: step),
            dependencies: ids
        ) { transaction, context in
            try await version(transaction, context) == step.from
        } action: { transaction, context in
            try await step.run(on: ContainerStore(self, step, transaction, context))
        }
    }

    /// All of them, in the order in which they run.
    package var migrations: [AnyStorageMigration] { [stamp] + steps.map { migration(of: $0) } }

    /// The same, each naming those that it comes after: for a pack, whose migrations a host runs by itself.
    package var dependentMigrations: [AnyStorageMigration] {
        var earlier: [String] = []
        return [stamp]
            + steps.map { step in
                let migration = migration(of: step, after: earlier)
                earlier = [migration.id]
                return migration
            }
    }

    private func migration(
        _ id: String, _ summary: String, sources: [String], version: Int? = nil, fingerprint: String? = nil,
        dependencies: [String] = [],
        condition: @escaping @Sendable (any StorageProviding, MigrationContext) async throws -> Bool,
        action: @escaping @Sendable (any StorageProviding, MigrationContext) async throws -> Void
    ) -> AnyStorageMigration {
        let description = MigrationDescription(
            id: idPrefix + id, revision: 1, summary: summary, fingerprint: fingerprint, effect: .brings,
            destination: versionKey, sources: [], dependencies: dependencies, conflictPolicy: .takeSource, bulk: nil)
        var migration = AnyStorageMigration(
            description, destination: versionKey, sources: sources.map { container.key($0) }, condition: condition
        ) { transaction, context in
            try await action(transaction, context)
            try await write(version ?? container.version, transaction)
            return MigrationResult(success: true, migratedCount: 1)
        } validation: { () throws(MigrationError) in
            try validate()
        }
        migration.isRepeatable = true
        return migration
    }

    /// Stores the version, and removes it from the keys where it was before.
    private func write(_ version: Int, _ transaction: any StorageProviding) async throws {
        try await transaction.setData(Data("\(version)".utf8), for: versionKey)
        try await (transaction as? any MovingTransaction)?.setOrigin(of: versionKey, to: nil)
        for former in container.versionKey.formerly where !former.isShared && former.name != container.versionKey.name {
            try await transaction.remove(container.key(former.name))
        }
    }

    /// The keys that a declared step reads. Those of a programmed one are not known.
    private func sources(of step: ContainerStep) -> [String] {
        let keys = (step.changes ?? []).flatMap { change -> [ContainerKey] in
            switch change {
            case .renames(let renames): renames.map(\.from)
            case .remove(let key): [key]
            case .prefix, .setDefault, .move: []
            }
        }
        return keys.map { storedName(of: $0, in: step) }
    }

    private func storedName(of key: ContainerKey, in step: ContainerStep) -> String {
        if key.isStored { return key.text }
        return ContainerDefinition(
            name: step.name ?? container.name, prefix: step.prefix ?? container.prefix, store: container.store
        ).keyFor(key.text)
    }

    private func fingerprint(of step: ContainerStep) -> String? {
        step.changes.map { changes in
            let text = "\(container.prefix)\(container.name) \(step.prefix ?? "") \(step.name ?? "") \(changes)"
            return "container \(StableHash.text([text]))"
        }
    }
}

/// Which version the data has.
extension ContainerChain {
    /// What there is to migrate.
    package enum Standing: Equatable, Sendable {
        /// There is nothing of the container yet: it gets the current version.
        case fresh
        /// There is data of this version, which the version's own key may not say.
        case version(Int, isStored: Bool)
    }

    /// - Throws: `newerRevision` with both versions if a later program has migrated the data; `validationFailed` if the
    ///   stored version cannot be one.
    package func standing(
        in transaction: any StorageProviding, _ context: MigrationContext
    ) async throws -> Standing {
        if let found = try await ContainerVersion.stored(of: container, in: transaction) {
            guard found.number <= container.version else {
                throw MigrationError(
                    .newerRevision,
                    "the data of the container '\(container.name)' in '\(container.store)' has version \(found.number), and "
                        + "this program has version \(container.version); use a later version of the program")
            }
            return .version(found.number, isStored: found.name == container.versionKey.name)
        }
        guard try await hasData(in: transaction, context) else { return .fresh }
        return .version(container.baseline, isStored: false)
    }

    private func version(_ transaction: any StorageProviding, _ context: MigrationContext) async throws -> Int? {
        switch try await standing(in: transaction, context) {
        case .fresh: nil
        case .version(let number, _): number
        }
    }

    private func needsStamp(_ transaction: any StorageProviding, _ context: MigrationContext) async throws -> Bool {
        switch try await standing(in: transaction, context) {
        case .fresh: return true
        case .version(let number, let isStored):
            // The host runs a pack's steps one by one, and no step finds data that is older than all of them.
            try requireSteps(from: number)
            return number == container.version && !isStored
        }
    }

    private func needsStamp(_ transaction: any StorageProviding) async throws -> Bool {
        try await needsStamp(transaction, MigrationContext())
    }

    /// Whether the store has data of the container, though no version: a value of a setting, a derived key of its
    /// present or former names, or anything that one of its steps finds.
    private func hasData(in transaction: any StorageProviding, _ context: MigrationContext) async throws -> Bool {
        for property in container.properties where try await transaction.exists(container.key(property.key)) {
            return true
        }
        for name in [container.name] + container.formerNames {
            do {
                let names = try await transaction.names(in: container.store, prefix: "\(container.prefix)\(name).")
                if names.contains(where: { !ContainerVersionKey.isReserved($0) }) { return true }
            } catch StorageError.unsupported {
                // The store does not list its names, so only those that the steps ask for are found.
            }
        }
        for step in steps where step.from >= container.baseline {
            let probe = ProbingTransaction(transaction)
            // What the step itself throws is thrown again when it runs, if it finds anything.
            try? await step.run(on: ContainerStore(self, step, probe, context))
            if probe.hasFound { return true }
            // A container that counts as new would never get what cannot be read now.
            if let failure = probe.failure { throw failure }
        }
        return false
    }
}

/// What can be known to be wrong before anything is read.
extension ContainerChain {
    /// - Parameter isComplete: Whether all steps to the version must be there.
    /// - Throws: `validationFailed` if a step is missing, is there twice or leads nowhere, or if settings get in each
    ///   other's way; `conflict` if a declared step moves two values to one key, or one to two.
    package func validate(complete isComplete: Bool = true) throws(MigrationError) {
        try container.validate()
        for step in steps {
            guard step.from >= 1, step.to == step.from + 1 else {
                throw refused("has the step \(step.from) -> \(step.to); a step leads from a version to the next")
            }
            guard step.to <= container.version else {
                throw refused(
                    "has the step \(step.from) -> \(step.to), but its version is \(container.version); increase it")
            }
        }
        for (step, next) in zip(steps, steps.dropFirst()) where step.from == next.from {
            throw refused("has the step \(step.from) -> \(step.to) twice; join the two")
        }
        for step in steps { try validate(step) }
        if isComplete { try requireSteps(from: container.baseline) }
    }

    private func validate(_ step: ContainerStep) throws(MigrationError) {
        let what = "has the step \(step.from) -> \(step.to), which"
        func stored(_ key: ContainerKey) throws(MigrationError) -> String {
            let name = storedName(of: key, in: step)
            guard !ContainerVersionKey.isReserved(name), !container.versionNames.contains(name) else {
                throw refused("\(what) changes '\(container.store)/\(name)', a name that is reserved for versions")
            }
            return "\(container.store)/\(name)"
        }
        for change in step.changes ?? [] {
            switch change {
            case .renames(let renames):
                let moves = try renames.map { (rename) throws(MigrationError) in
                    (from: try stored(rename.from), to: try stored(rename.to))
                }
                if let collision = ContainerMove.collision(of: moves.filter { $0.from != $0.to }) {
                    throw MigrationError(.conflict, refused("\(what) \(collision)").message)
                }
            case .remove(let key), .setDefault(let key, _): _ = try stored(key)
            case .prefix, .move: break
            }
        }
    }

    /// - Throws: `validationFailed` with the first missing step.
    package func requireSteps(from version: Int) throws(MigrationError) {
        let known = Set(steps.map(\.from))
        guard version < container.version,
            let missing = (version..<container.version).first(where: { !known.contains($0) })
        else { return }
        throw refused(
            "has version \(container.version), but no step \(missing) -> \(missing + 1), which data of version \(version) "
                + "needs; add it to 'steps', where every step stays. Nothing was changed")
    }

    private func refused(_ what: String) -> MigrationError {
        MigrationError(.validationFailed, "the container '\(container.name)' \(what)")
    }
}
