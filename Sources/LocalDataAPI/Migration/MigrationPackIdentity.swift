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
