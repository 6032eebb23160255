/// Which pack a migration comes from, and which build of it: what the ledger records beside what the migration did.
public struct MigrationPackIdentity: Codable, Hashable, Sendable {
    /// The name that the configuration gives the pack: `NAME` in `migrations.packs.NAME`.
    public let name: String
    /// The id of the component that it is.
    public let component: String
    /// The version of the plugin.
    public let version: String
    /// Changes with the plugin's file and with the options that the pack was opened with.
    public let checksum: String
    /// What the migration does, as the pack tells it: see ``StorageMigration/fingerprint``; `nil` if it does not tell,
    /// and for a pack as a whole.
    public let fingerprint: String?

    /// Describes a pack; the loader of packs does.
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
