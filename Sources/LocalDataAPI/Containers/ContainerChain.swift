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
    /// Where its version may be besides its own key: as declared, as its former names and its declared steps say, and
    /// as looking has shown.
    package private(set) var formerVersionKeys: [ContainerVersionKey] = []

    /// The chain of a container.
    package init(
        _ container: ContainerDefinition, _ steps: [ContainerStep], others: [ContainerDefinition] = [],
        defaultStore: StorageDomain? = nil
    ) {
        self.container = container
        self.steps = steps.sorted { ($0.from, $0.to) < ($1.from, $1.to) }
        self.others = others
        self.defaultStore = defaultStore ?? container.store
        formerVersionKeys = declaredFormerKeys()
    }

    /// The same beside other containers.
    package func beside(_ others: [ContainerDefinition]) -> ContainerChain {
        ContainerChain(container, steps, others: others, defaultStore: defaultStore)
    }

    /// The same with former version keys that only looking has shown.
    package func knowing(_ names: [String]) -> ContainerChain {
        var chain = self
        for name in names where name != container.versionKey.name {
            if !chain.formerVersionKeys.contains(where: { $0.name == name }) {
                chain.formerVersionKeys.append(ContainerVersionKey(name))
            }
        }
        return chain
    }

    /// The key of the version.
    package var versionKey: AnyStorageKey { container.key(container.versionKey.name, serializer: .json) }

    /// What the ids of all its migrations begin with.
    package var idPrefix: String { idPrefix(of: container.name) }

    /// The same, had it another name.
    package func idPrefix(of name: String) -> String { "container \(container.store)/\(name) " }

    /// The migration that stores the version of data that needs no step.
    package var stamp: AnyStorageMigration {
        migration("version", "stores the version of \(container.name)", sources: versionNames) {
            transaction, context in
            try await needsStamp(transaction, context)
        } action: { chain, transaction, _ in
            try await chain.requireNothingLeft(in: transaction)
            return container.version
        }
    }

    /// The migration of a step.
    package func migration(of step: ContainerStep) -> AnyStorageMigration { migration(of: step, after: []) }

    private func migration(of step: ContainerStep, after ids: [String]) -> AnyStorageMigration {
        migration(
            "\(step.to)", "takes \(container.name) from version \(step.from) to \(step.to)",
            sources: versionNames + sources(of: step), fingerprint: fingerprint(of: step),
            dependencies: ids
        ) { transaction, context in
            try await version(transaction, context) == step.from
        } action: { chain, transaction, context in
            let trace = SharedContainerTrace.current ?? SharedContainerTrace()
            try await step.run(on: ContainerStore(chain, step, transaction, context, trace: trace))
            if step.to == container.version {
                try trace.trace.requireSettings(of: container)
                try await chain.requireNothingLeft(in: transaction)
            }
            return step.to
        }
    }

    /// The keys where the version may be.
    var versionNames: [String] { [container.versionKey.name] + formerVersionKeys.map(\.name) }

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
        _ id: String, _ summary: String, sources: [String], fingerprint: String? = nil, dependencies: [String] = [],
        condition: @escaping @Sendable (any StorageProviding, MigrationContext) async throws -> Bool,
        action: @escaping @Sendable (ContainerChain, any StorageProviding, MigrationContext) async throws -> Int
    ) -> AnyStorageMigration {
        let description = MigrationDescription(
            id: idPrefix + id, revision: 1, summary: summary, fingerprint: fingerprint, effect: .brings,
            destination: versionKey, sources: [], dependencies: dependencies, conflictPolicy: .takeSource, bulk: nil,
            isOfContainer: true)
        var migration = AnyStorageMigration(
            description, destination: versionKey, sources: sources.map { container.key($0) }, condition: condition
        ) { transaction, context in
            let chain = try await learning(from: transaction, context)
            try await chain.write(try await action(chain, transaction, context), transaction)
            return MigrationResult(success: true, migratedCount: 1)
        } validation: { () throws(MigrationError) in
            try validate()
        }
        migration.isRepeatable = true
        return migration
    }

    /// The migration that decides between two versions. With the former one, the settings that the later release has
    /// stored are removed, so that the steps can bring the earlier ones again.
    package func decision(_ choice: ContainerVersionChoice) -> AnyStorageMigration {
        migration("decision", "decides between two versions of \(container.name)", sources: versionNames) {
            transaction, context in
            try await versions(in: transaction, context, choosing: choice)?.isChosen == true
        } action: { _, transaction, context in
            guard let found = try await versions(in: transaction, context, choosing: choice) else {
                return container.version
            }
            if choice == .former {
                for property in container.properties { try await transaction.remove(container.key(property.key)) }
            }
            return found.number
        }
    }

    /// Stores the version, and removes it from the keys where it was before.
    private func write(_ version: Int, _ transaction: any StorageProviding) async throws {
        try await transaction.setData(Data("\(version)".utf8), for: versionKey)
        try await (transaction as? any MovingTransaction)?.setOrigin(of: versionKey, to: nil)
        for former in formerVersionKeys where !former.isShared {
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

    func storedName(of key: ContainerKey, in step: ContainerStep) -> String {
        key.isStored ? key.text : scheme(of: step).keyFor(key.text)
    }

    /// The container as the short names of a step mean it.
    func scheme(of step: ContainerStep) -> ContainerDefinition {
        guard step.prefix != nil || step.name != nil else { return container }
        // Explicit keys are those of the code, so they say nothing about a scheme that it no longer has.
        return ContainerDefinition(
            name: step.name ?? container.name, prefix: step.prefix ?? container.prefix, store: container.store)
    }

    private func fingerprint(of step: ContainerStep) -> String? {
        step.changes.map { changes in
            let text = "\(container.prefix)\(container.name) \(step.prefix ?? "") \(step.name ?? "") \(changes)"
            return "container \(StableHash.text([text]))"
        }
    }
}
