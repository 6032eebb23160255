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

    /// Throws if it can never be right.
    func validate() throws(MigrationError) {
        switch self {
        case .single(let migration): try migration.validate()
        case .bulk(let migration): try migration.validate()
        }
    }

    /// Where the data comes to, for people.
    var destination: String {
        switch self {
        case .single(let migration):
            "\(migration.destinationDescriptor.domain)/\(migration.destinationDescriptor.name)"
        case .bulk(let migration): migration.destination.description
        }
    }
}
