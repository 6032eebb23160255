/// A migration that LocalData makes itself.
package protocol MadeMigration {
    var origin: MigrationOrigin { get }
}

/// What has made a migration. Its id does not say so: an app's or a pack's own may begin with any words.
package enum MigrationOrigin: String, Codable, Sendable {
    /// An app or a pack declares it.
    case declared
    /// The place of a key was changed.
    case formerPlace
    /// A key's type has versions.
    case chain
    /// A container has steps between its versions.
    case container
}
