/// One error per code, for `catch` and for results.
extension MigrationError {
    /// A check before or after the migration failed.
    public static let validationFailed = MigrationError(.validationFailed)
    /// The transformation threw.
    public static let transformationFailed = MigrationError(.transformationFailed)
    /// A store failed.
    public static let storageFailed = MigrationError(.storageFailed)
    /// The condition could not be evaluated.
    public static let conditionalMigrationFailed = MigrationError(.conditionalMigrationFailed)
    /// Another process is migrating.
    public static let migrationInProgress = MigrationError(.migrationInProgress)
    /// A source has no data.
    public static let sourceDataNotFound = MigrationError(.sourceDataNotFound)
    /// Source and destination are incompatible.
    public static let incompatibleTypes = MigrationError(.incompatibleTypes)
    /// The aggregation threw, or one of its sources could not be decoded.
    public static let aggregationFailed = MigrationError(.aggregationFailed)
    /// No known version decodes the data.
    public static let decodingFailed = MigrationError(.decodingFailed)
    /// No chain of converters leads to the wanted type.
    public static let pathNotFound = MigrationError(.pathNotFound)
    /// A chain of converters ended in another type.
    public static let finalTypeMismatch = MigrationError(.finalTypeMismatch)
    /// The destination has a value, and the conflict policy is `fail`.
    public static let conflict = MigrationError(.conflict)
    /// A later revision of the migration, or a later program, has already run.
    public static let newerRevision = MigrationError(.newerRevision)
    /// Migrations depend on each other in a circle, or on a missing one.
    public static let unresolvedDependency = MigrationError(.unresolvedDependency)
    /// A configured migration pack cannot be used, or has changed under the same version.
    public static let packUnavailable = MigrationError(.packUnavailable)
}

/// Errors with a message, for migrations to throw.
extension MigrationError {
    /// A check before or after the migration failed.
    public static func validationFailed(_ message: String) -> MigrationError {
        MigrationError(.validationFailed, message)
    }

    /// The transformation failed.
    public static func transformationFailed(_ message: String) -> MigrationError {
        MigrationError(.transformationFailed, message)
    }

    /// A store failed.
    public static func storageFailed(_ error: StorageError) -> MigrationError {
        MigrationError(.storageFailed, underlying: error)
    }

    /// The condition could not be evaluated.
    public static func conditionalMigrationFailed(_ message: String) -> MigrationError {
        MigrationError(.conditionalMigrationFailed, message)
    }

    /// A source has no data.
    public static func sourceDataNotFound(_ message: String) -> MigrationError {
        MigrationError(.sourceDataNotFound, message)
    }

    /// Source and destination are incompatible.
    public static func incompatibleTypes(_ message: String) -> MigrationError {
        MigrationError(.incompatibleTypes, message)
    }

    /// The aggregation failed.
    public static func aggregationFailed(_ message: String) -> MigrationError {
        MigrationError(.aggregationFailed, message)
    }
}
