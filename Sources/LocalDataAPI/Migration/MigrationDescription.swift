#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A migration as described in its pack's list; see `ld_migration_pack` in the C header.
package struct MigrationDescription: Sendable {
    /// The ranges between which a bulk migration moves values.
    package struct Bulk: Sendable {
        package let source: MigrationRange
        package let destination: MigrationRange
        package let converts: Bool
    }

    package let id: String
    package let revision: Int
    package let summary: String
    /// A fingerprint of the migration's behaviour; `nil` if the pack gives none.
    package let fingerprint: String?
    package let effect: MigrationEffect
    /// `nil` for a bulk migration.
    package let destination: AnyStorageKey?
    package let sources: [AnyStorageKey]
    package let dependencies: [String]
    package let conflictPolicy: MigrationConflictPolicy
    /// `nil` for a migration of one key.
    package let bulk: Bulk?

    /// The largest list in bytes, and the most migrations in it.
    private static let longestList = 1 << 20
    private static let mostMigrations = 1024
    /// The longest id in bytes: two addresses and words between them.
    private static let longestID = 4096
    /// The longest fingerprint in bytes; the ledger keeps it in every row.
    private static let longestFingerprint = 256
}

extension MigrationDescription {
    /// Reads a pack's list.
    ///
    /// - Throws: `pluginRefused` with the migration and its invalid member.
    package static func list(_ json: Data) throws(StorageError) -> [MigrationDescription] {
        guard json.count <= longestList else {
            throw refused("has \(json.count) bytes; expected at most \(longestList)")
        }
        let forms: [Form]
        do { forms = try JSONCoding.decode([Form].self, from: json) } catch {
            throw refused("is malformed: \(CodingFailure(error))")
        }
        guard forms.count <= mostMigrations else {
            throw refused("has \(forms.count) migrations; expected at most \(mostMigrations)")
        }
        var known: Set<String> = []
        var list: [MigrationDescription] = []
        for (index, form) in forms.enumerated() {
            func refused(_ what: String) -> StorageError { Self.refused("has at [\(index)] \(what)") }
            guard isUsable(form.id) else {
                throw refused(
                    "an invalid id; expected 1 to \(longestID) bytes without control characters")
            }
            guard known.insert(form.id).inserted else { throw refused("the id '\(form.id)' for the second time") }
            guard form.revision ?? 1 >= 1 else {
                throw refused("the migration '\(form.id)' with the revision \(form.revision ?? 1); expected 1 or more")
            }
            if let unusable = (form.dependencies ?? []).first(where: { !isUsable($0) || $0 == form.id }) {
                throw refused(
                    "the migration '\(form.id)' with the dependency '\(unusable)', which is its own or an invalid id")
            }
            guard form.fingerprint.map({ isUsable($0, longestFingerprint) }) ?? true else {
                throw refused(
                    "the migration '\(form.id)' with an invalid fingerprint; expected 1 to "
                        + "\(longestFingerprint) bytes without control characters")
            }
            do throws(StorageError) { list.append(try form.description()) } catch {
                throw refused("the migration '\(form.id)': \(error.message)")
            }
        }
        return list
    }

    /// The list of a pack: its migrations in order, then its bulk migrations.
    package static func json(
        _ migrations: [AnyStorageMigration], _ bulk: [AnyBulkMigration]
    ) throws(StorageError) -> Data {
        let forms = migrations.map { Form($0) } + bulk.map { Form($0) }
        do { return try JSONCoding.encode(forms) } catch {
            throw StorageError(
                .serializationFailed, "the list of migrations cannot be encoded as JSON: \(CodingFailure(error))")
        }
    }

    private static func isUsable(_ text: String, _ longest: Int = longestID) -> Bool {
        (1...longest).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    private static func refused(_ what: String) -> StorageError {
        StorageError(
            .pluginRefused, "its list of migrations \(what)", hint: "see ld_migration_pack in the header")
    }
}

/// One element of the list.
private struct Form: Codable {
    struct Range: Codable {
        let domain: String
        var prefix: String?
        var serializer: SerializerFormat?
        var security: SecurityPolicy?

        init(_ range: MigrationRange) {
            domain = "\(range.domain)"
            prefix = range.prefix
            serializer = range.serializer
            security = range.security
        }

        func range() throws(StorageError) -> MigrationRange {
            let parts = try StorageAddress.parts(of: domain)
            guard parts.name == nil else {
                throw StorageError(.invalidAddress, "the range '\(domain)' has a name; expected domain[:scope]")
            }
            return MigrationRange(
                domain: try StorageDomain(name: parts.domain, scope: parts.scope), prefix: prefix ?? "",
                security: security, serializer: serializer ?? .data)
        }
    }

    struct Bulk: Codable {
        let source: Range
        let destination: Range
        var converts: Bool?
    }

    let id: String
    var revision: Int?
    var summary: String?
    var fingerprint: String?
    var effect: MigrationEffect?
    var destination: MigrationKeyForm?
    var sources: [MigrationKeyForm]?
    var dependencies: [String]?
    var conflictPolicy: MigrationConflictPolicy?
    var bulk: Bulk?

    init(_ migration: AnyStorageMigration) {
        id = migration.id
        revision = migration.revision
        summary = migration.summary
        fingerprint = migration.fingerprint
        effect = migration.effect
        destination = MigrationKeyForm(migration.destinationDescriptor)
        sources = migration.sources.map { MigrationKeyForm($0.descriptor) }
        dependencies = migration.dependencies
        conflictPolicy = migration.conflictPolicy
    }

    init(_ migration: AnyBulkMigration) {
        id = migration.id
        revision = migration.revision
        summary = migration.summary
        fingerprint = migration.fingerprint
        dependencies = migration.dependencies
        conflictPolicy = migration.conflictPolicy
        bulk = Bulk(
            source: Range(migration.source), destination: Range(migration.destination),
            converts: migration.changesValues)
    }

    func description() throws(StorageError) -> MigrationDescription {
        guard (destination == nil) != (bulk == nil) else {
            throw StorageError(
                .invalidAddress, "its target is not clear; expected either 'destination' or 'bulk'")
        }
        var keys: [AnyStorageKey] = []
        for source in sources ?? [] { keys.append(try source.key()) }
        return MigrationDescription(
            id: id, revision: revision ?? 1, summary: summary ?? "", fingerprint: fingerprint,
            effect: effect ?? .brings,
            destination: try destination.map { (form) throws(StorageError) in try form.key() }, sources: keys,
            dependencies: dependencies ?? [], conflictPolicy: conflictPolicy ?? .keepDestination,
            bulk: try bulk.map { (form) throws(StorageError) in
                MigrationDescription.Bulk(
                    source: try form.source.range(), destination: try form.destination.range(),
                    converts: form.converts ?? false)
            })
    }
}

/// What a migration does to its destination.
public enum MigrationEffect: String, Codable, CaseIterable, Hashable, Sendable {
    /// It writes the destination. A run that reports success without having written there fails.
    case brings
    /// It removes the destination. A run that reports success and leaves a value there fails.
    case removes
}

/// A migration's pack and the build of that pack. The ledger records it with each migration.
public struct MigrationPackIdentity: Codable, Hashable, Sendable {
    /// The name of the pack in the configuration: `NAME` in `migrations.packs.NAME`.
    public let name: String
    /// The pack's component id.
    public let component: String
    /// The version of the plugin.
    public let version: String
    /// Changes with the plugin's file and with the pack's options.
    public let checksum: String
    /// A fingerprint of the migration's behaviour, see ``StorageMigration/fingerprint``; `nil` if the pack gives none,
    /// and for a pack as a whole.
    public let fingerprint: String?

    /// Describes a pack; the loader of packs calls it.
    package init(name: String, component: String, version: String, checksum: String, fingerprint: String? = nil) {
        self.name = name
        self.component = component
        self.version = version
        self.checksum = checksum
        self.fingerprint = fingerprint
    }

    /// The same pack, for one of its migrations.
    package func with(fingerprint: String?) -> MigrationPackIdentity {
        MigrationPackIdentity(
            name: name, component: component, version: version, checksum: checksum, fingerprint: fingerprint)
    }
}

extension MigrationPackIdentity: CustomStringConvertible {
    /// The name and the version, e.g. `standard 1.0.0`.
    public var description: String { version.isEmpty ? name : "\(name) \(version)" }
}
