internal import LocalDataAPI

/// A migration of one key, or of many.
enum KnownMigration: Sendable {
    case single(AnyStorageMigration)
    case bulk(AnyBulkMigration)
}

extension KnownMigration: OrderedMigration {
    var id: String {
        switch self {
        case .single(let migration): migration.id
        case .bulk(let migration): migration.id
        }
    }

    var dependencies: [String] {
        switch self {
        case .single(let migration): migration.dependencies
        case .bulk(let migration): migration.dependencies
        }
    }

    /// The pack that it comes from.
    var pack: MigrationPackIdentity? {
        switch self {
        case .single(let migration): migration.pack
        case .bulk(let migration): migration.pack
        }
    }

    var revision: Int {
        switch self {
        case .single(let migration): migration.revision
        case .bulk(let migration): migration.revision
        }
    }

    var summary: String {
        switch self {
        case .single(let migration): migration.summary
        case .bulk(let migration): migration.summary
        }
    }

    /// Throws if it can never be right.
    func validate() throws(MigrationError) {
        switch self {
        case .single(let migration): try migration.validate()
        case .bulk(let migration): try migration.validate()
        }
    }

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
