internal import HostPlugins
package import LocalDataAPI

/// A migration of one key, or of many.
package enum KnownMigration: Sendable {
    case single(AnyStorageMigration)
    case bulk(AnyBulkMigration)
}

/// The description of a migration, of one key or of many.
protocol DescribedMigration: OrderedMigration {
    /// The pack that it comes from.
    var pack: MigrationPackIdentity? { get }
    var origin: MigrationOrigin { get }
    var revision: Int { get }
    var summary: String { get }

    /// Throws if it can never be right.
    func validate() throws(MigrationError)
}

extension AnyStorageMigration: DescribedMigration {}
extension AnyBulkMigration: DescribedMigration {
    var origin: MigrationOrigin { .declared }
}

extension KnownMigration: DescribedMigration {
    private var described: any DescribedMigration {
        switch self {
        case .single(let migration): migration
        case .bulk(let migration): migration
        }
    }

    package var id: String { described.id }
    package var dependencies: [String] { described.dependencies }
    var pack: MigrationPackIdentity? { described.pack }
    var origin: MigrationOrigin { described.origin }
    var revision: Int { described.revision }
    var summary: String { described.summary }

    func validate() throws(MigrationError) { try described.validate() }

    /// The key that the data comes to; of many, one whose name stands for all of them.
    var destinationKey: AnyStorageKey {
        switch self {
        case .single(let migration): migration.destinationKey
        case .bulk(let migration): migration.destination.key("\(migration.destination.prefix)*")
        }
    }

    var destinationDescriptor: StorageKeyDescriptor { destinationKey.descriptor }

    /// Where the data comes to, for people.
    var destination: String {
        switch self {
        case .single(let migration):
            "\(migration.destinationDescriptor.domain)/\(migration.destinationDescriptor.name)"
        case .bulk(let migration): migration.destination.description
        }
    }
}
