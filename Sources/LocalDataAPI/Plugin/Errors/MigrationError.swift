/// Why a migration failed: a code and a message. Match it by code, as ``StorageError``.
public struct MigrationError: Error, Sendable {
    /// What kind of failure this is.
    public let code: Code
    /// What failed, by name.
    public let message: String
    /// The underlying storage error, if there is one.
    public let underlying: StorageError?
    /// The type from which no converter leads to the target, for `pathNotFound`.
    public let from: String?
    /// The id of the migration that the message names as the one that failed.
    package var migration: String?

    /// Creates an error; if the message is empty, the code's name replaces it.
    public init(_ code: Code, _ message: String = "", underlying: StorageError? = nil, from: String? = nil) {
        self.code = code
        self.from = from
        self.message = message.isEmpty ? (underlying?.message ?? code.rawValue) : message
        self.underlying = underlying
    }

    /// A kind of failure. Later versions may add codes.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code's name.
        public let rawValue: String
        /// Names a code.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A check before or after the migration failed.
        public static let validationFailed = Code(rawValue: "validation failed")
        /// The transformation threw.
        public static let transformationFailed = Code(rawValue: "transformation failed")
        /// A store failed.
        public static let storageFailed = Code(rawValue: "storage failed")
        /// The condition could not be evaluated.
        public static let conditionalMigrationFailed = Code(rawValue: "condition failed")
        /// Another process is migrating, or another device of the sync group has to.
        public static let migrationInProgress = Code(rawValue: "migration in progress")
        /// A source has no data.
        public static let sourceDataNotFound = Code(rawValue: "source data not found")
        /// Source and destination are incompatible.
        public static let incompatibleTypes = Code(rawValue: "incompatible types")
        /// The aggregation threw, or one of its sources could not be decoded.
        public static let aggregationFailed = Code(rawValue: "aggregation failed")
        /// No known version decodes the data.
        public static let decodingFailed = Code(rawValue: "decoding failed")
        /// No chain of converters leads to the wanted type.
        public static let pathNotFound = Code(rawValue: "no path between versions")
        /// A chain of converters ended in another type.
        public static let finalTypeMismatch = Code(rawValue: "final type mismatch")
        /// The destination has a value, and the conflict policy is `fail`.
        public static let conflict = Code(rawValue: "destination has a value")
        /// A later revision of the migration, or a later program, has already run.
        public static let newerRevision = Code(rawValue: "later revision found")
        /// Migrations depend on each other in a circle, or on a missing one.
        public static let unresolvedDependency = Code(rawValue: "unresolved dependency")
        /// A configured migration pack cannot be used, or has changed under the same version.
        public static let packUnavailable = Code(rawValue: "migration pack unavailable")
        /// Data, or a chain of converters, can be understood in more than one way.
        public static let ambiguous = Code(rawValue: "ambiguous")
        /// The data is of a version that this program does not know.
        public static let newerVersion = Code(rawValue: "newer version found")
        /// Converters lead from a type back to it.
        public static let converterCycle = Code(rawValue: "cycle of converters")
        /// Two converters are registered for the same two types.
        public static let duplicateConverter = Code(rawValue: "duplicate converter")
    }

    /// Matches any `MigrationError` with the same code, so that `catch MigrationError.sourceDataNotFound` works.
    public static func ~= (pattern: MigrationError, error: any Error) -> Bool {
        (error as? MigrationError)?.code == pattern.code
    }
}

extension MigrationError: Equatable {
    /// Two errors are equal when their codes are; messages are for people.
    public static func == (left: MigrationError, right: MigrationError) -> Bool { left.code == right.code }
}

extension MigrationError: CustomStringConvertible {
    /// The message, followed by the hint of the underlying storage error if there is one.
    public var description: String {
        guard let hint = underlying?.hint, !hint.isEmpty else { return message }
        return "\(message) (\(hint))"
    }
}

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
    /// Data, or a chain of converters, can be understood in more than one way.
    public static let ambiguous = MigrationError(.ambiguous)
    /// The data is of a version that this program does not know.
    public static let newerVersion = MigrationError(.newerVersion)
    /// Converters lead from a type back to it.
    public static let converterCycle = MigrationError(.converterCycle)
    /// Two converters are registered for the same two types.
    public static let duplicateConverter = MigrationError(.duplicateConverter)
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

/// The numbers of migration errors at the plugin boundary (`ld_error_code` in the C header). They do not overlap with
/// those of ``StorageError/Code``.
extension MigrationError.Code {
    /// The number; an app's own code has that of `transformationFailed`.
    package var number: Int32 {
        Self.numbered.firstIndex(of: self).map { Self.first + Int32($0) } ?? Self.first + 1
    }

    /// The code with this number; `nil` if the number is not a migration error's.
    package init?(number: Int32) {
        guard number >= Self.first, Int(number - Self.first) < Self.numbered.count else { return nil }
        self = Self.numbered[Int(number - Self.first)]
    }

    private static let first: Int32 = 64

    // In the order of their numbers; only ever appended to.
    private static let numbered: [Self] = [
        .validationFailed, .transformationFailed, .storageFailed, .conditionalMigrationFailed, .migrationInProgress,
        .sourceDataNotFound, .incompatibleTypes, .aggregationFailed, .decodingFailed, .pathNotFound,
        .finalTypeMismatch, .conflict, .newerRevision, .unresolvedDependency, .packUnavailable, .ambiguous,
        .newerVersion, .converterCycle, .duplicateConverter,
    ]
}
