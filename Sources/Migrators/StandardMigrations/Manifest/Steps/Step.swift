internal import FoundationEssentials
internal import LocalDataAPI

/// One step of a manifest.
struct Step: Sendable {
    /// What it does, to single keys or to all of a prefix.
    enum Work: Sendable {
        case keys(any StepAction)
        case range(from: ManifestKey, to: ManifestKey, Reencoding?)
    }

    let id: String
    /// Where the manifest has it.
    let place: ManifestPlace
    let revision: Int
    /// Ids of the steps that it comes after.
    let after: [String]
    let conflictPolicy: MigrationConflictPolicy
    let condition: StepCondition
    let work: Work
    /// Another one if the step does something else.
    let fingerprint: String

    /// The keys that data comes to.
    var brings: [ManifestKey] {
        switch work {
        case .keys(let action): action.effect == .brings ? [action.destination] : []
        case .range(_, let to, _): [to]
        }
    }

    /// The keys that data is taken away from.
    var takes: [ManifestKey] {
        switch work {
        case .keys(let action): action.effect == .brings ? action.sources : [action.destination]
        case .range(let from, _, _): [from]
        }
    }

    /// As the host runs it, if it is for single keys.
    var migration: AnyStorageMigration? {
        guard case .keys(let action) = work else { return nil }
        switch action.destination.serializer {
        case .json: return AnyStorageMigration(typed(action, .json as Serializer<AnyCodable>))
        case .plist: return AnyStorageMigration(typed(action, .plist as Serializer<AnyCodable>))
        case .text: return AnyStorageMigration(typed(action, .text))
        case .custom: return AnyStorageMigration(typed(action, .custom(encode: { $0 }, decode: { $0 })))
        case .data, nil: return AnyStorageMigration(typed(action, .data))
        }
    }

    /// As the host runs it, if it is for a prefix.
    var bulkMigration: AnyBulkMigration? {
        guard case .range(let from, let to, let reencoding) = work else { return nil }
        return AnyBulkMigration(
            RangeMove(
                id: id, revision: revision, dependencies: after, conflictPolicy: conflictPolicy,
                fingerprint: fingerprint, from: from, to: to, reencoding: reencoding))
    }

    private func typed<Value>(_ action: any StepAction, _ serializer: Serializer<Value>) -> StepMigration<Value> {
        let destination = action.destination
        let key = StorageKey<Value>(
            name: destination.name, domain: destination.domain, security: destination.security,
            serializer: serializer, owner: "", description: "named by a manifest of migrations")
        return StepMigration(destinationKey: key, step: self, action: action)
    }
}

/// Moves all keys of a prefix: `prefix`, and `move` and `reencode` of a prefix.
struct RangeMove: BulkMigration {
    let id: String
    let revision: Int
    let dependencies: [String]
    let conflictPolicy: MigrationConflictPolicy
    let fingerprint: String?
    let from: ManifestKey
    let to: ManifestKey
    /// How the values become others, if they do.
    let reencoding: Reencoding?

    var source: MigrationRange { from.range }
    var destination: MigrationRange { to.range }
    var changesValues: Bool { reencoding != nil }
    var summary: String {
        "moves \(from.text) to \(to.text)" + (reencoding.map { " and writes the values as \($0.to.rawValue)" } ?? "")
    }

    func convert(_ data: Data, named name: String) throws -> Data {
        try reencoding?.convert(data, at: "\(from.domain)/\(name)") ?? data
    }
}

/// Writes a value in the other format, at its own key or another one.
struct Reencoding: StepAction {
    let source: ManifestKey
    let destination: ManifestKey
    let from: ValueFormat
    let to: ValueFormat

    var changesInPlace: Bool { source.isSame(as: destination) }
    var sources: [ManifestKey] { changesInPlace ? [] : [source] }
    var summary: String {
        "writes \(source.text) as \(to.rawValue)" + (changesInPlace ? "" : " to \(destination.text)")
    }

    /// In place, a value that has the format already is left alone.
    func isNeeded(_ router: any StorageProviding) async throws -> Bool {
        guard changesInPlace else { return try await router.exists(source.key) }
        guard let data = try await router.data(for: looked(at: source)) else { return false }
        return !to.fits(data)
    }

    func run(_ router: any StorageProviding) async throws -> Int {
        let data = try convert(try await data(of: source, router), at: source.text)
        if !changesInPlace { try await router.remove(source.key) }
        try await router.setData(data, for: destination.key)
        return 1
    }

    /// The bytes in the other format.
    func convert(_ data: Data, at address: String) throws(MigrationError) -> Data {
        try to.write(try from.read(data, at: address), at: address)
    }
}

/// What a step of a manifest does to single keys.
protocol StepAction: Sendable {
    /// The key that it brings data to, or removes.
    var destination: ManifestKey { get }
    /// The keys that it takes data from and removes; none if it changes its destination in place.
    var sources: [ManifestKey] { get }
    /// What it does to the destination.
    var effect: MigrationEffect { get }
    /// Whether it changes what is at the destination.
    var changesInPlace: Bool { get }
    /// What it does, for people.
    var summary: String { get }

    /// Whether there is something to do.
    func isNeeded(_ router: any StorageProviding) async throws -> Bool
    /// Does it, and says how many values came to their destination.
    func run(_ router: any StorageProviding) async throws -> Int
}

extension StepAction {
    var sources: [ManifestKey] { [] }
    var effect: MigrationEffect { .brings }
    var changesInPlace: Bool { false }

    /// The key by which a value is read. What changes in place is looked at as what it becomes: so is it written.
    func looked(at key: ManifestKey) -> AnyStorageKey { changesInPlace ? destination.key : key.key }

    /// The bytes of a key that has to have some.
    func data(of key: ManifestKey, _ router: any StorageProviding) async throws -> Data {
        guard let data = try await router.data(for: looked(at: key)) else {
            throw MigrationError(.sourceDataNotFound, "'\(key.text)' is not stored")
        }
        return data
    }
}

/// The versions that a step is for: of the app that wrote the data, and of the one that runs.
struct StepCondition: Sendable {
    var dataVersion: VersionCondition?
    var appVersion: VersionCondition?

    /// Whether the versions are right.
    ///
    /// - Throws: `conditionalMigrationFailed` if one that counts is not known, and how to say it.
    func holds(for destination: ManifestKey, _ context: MigrationContext) throws(MigrationError) -> Bool {
        if let dataVersion {
            let subject = "the version of the app that wrote the data for '\(destination.text)'"
            guard dataVersion.holds(for: try Self.version(context.dataVersion, subject, "migrations.dataVersion"))
            else { return false }
        }
        guard let appVersion else { return true }
        return appVersion.holds(
            for: try Self.version(context.appVersion, "the version of the running app", "app.version"))
    }

    private static func version(
        _ text: String?, _ subject: String, _ setting: String
    ) throws(MigrationError) -> SemanticVersion {
        guard let text else {
            throw MigrationError(
                .conditionalMigrationFailed,
                "\(subject) is not known; say which it is: ld-host config set \(setting) VERSION")
        }
        guard let version = SemanticVersion(text) else {
            throw MigrationError(
                .conditionalMigrationFailed, "\(subject) is '\(text)', which is not a semantic version such as 2.0.0")
        }
        return version
    }
}

/// A step for single keys, as the host runs it.
struct StepMigration<Value: Codable & Sendable>: ConditionalMigration {
    let destinationKey: StorageKey<Value>
    let step: Step
    let action: any StepAction

    var id: String { step.id }
    var revision: Int { step.revision }
    var summary: String { action.summary }
    var fingerprint: String? { step.fingerprint }
    var dependencies: [String] { step.after }
    var effect: MigrationEffect { action.effect }
    var sources: [AnyStorageKey] { action.sources.map(\.key) }
    /// What a step changes in place is its own to replace.
    var conflictPolicy: MigrationConflictPolicy { action.changesInPlace ? .takeSource : step.conflictPolicy }

    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        // What is stored after a removal is something new.
        if action.effect == .removes, context.migrationHistory[id] != nil { return false }
        guard try await action.isNeeded(router) else { return false }
        return try step.condition.holds(for: action.destination, context)
    }

    func migrate(
        using router: any StorageProviding, context: MigrationContext
    ) async throws -> MigrationResult {
        // What a step for data before 2.0.0 writes is data of 2.0.0, so that the step after it finds its own.
        let version = step.condition.dataVersion?.end
        return MigrationResult(
            success: true, migratedCount: try await action.run(router),
            metadata: version.map { ["dataVersion": AnyCodable(.string($0.description))] } ?? [:])
    }
}
