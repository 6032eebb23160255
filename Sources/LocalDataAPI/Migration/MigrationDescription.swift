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
    /// Whether it is a step of a container.
    package let isOfContainer: Bool

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
