internal import LocalDataAPI

/// A location that migrations read or write, as an app's keys name it and as the standard configuration serves it.
package enum ExercisePlace: String, CaseIterable, Sendable {
    /// The file store.
    case files
    /// The file store, with values that the host encrypts.
    case encryptedFiles = "encrypted-files"
    /// The SQLite store.
    case database
    /// A folder of the SQLite store, in which it keeps a separate database.
    case groupDatabase = "group-database"
    /// Sealed files.
    case keychain
    /// The memory store, whose content ends with the process.
    case memory
    /// The PostgreSQL store, at the server that ``serverVariable`` names.
    case server

    /// The environment variable with the URI of the database for ``server``.
    package static let serverVariable = "EXERCISE_SERVER"

    /// The locations that outlive a process, each of a different kind.
    package static let lasting: [ExercisePlace] = [.files, .encryptedFiles, .database, .keychain]
    /// Pairs of locations in one store that cannot change both at once.
    package static let apart: [(ExercisePlace, ExercisePlace)] = [
        (.database, .groupDatabase), (.groupDatabase, .database), (.groupDatabase, .groupDatabase),
    ]

    var domain: StorageDomain {
        switch self {
        case .files: .fileSystem()
        case .encryptedFiles: .encryptedFileSystem()
        case .database: .userDefaults()
        case .groupDatabase: .appGroupUserDefaults(identifier: Self.group)
        case .keychain: .keychain(service: "exercise")
        case .memory: .custom(name: "volatile")
        case .server: .custom(name: "remote")
        }
    }

    static let group = "exercise"

    /// Whether all values in this location are protected.
    var isProtected: Bool { self == .encryptedFiles || self == .keychain }

    /// A key in this location; a protected key is encrypted if the location protects nothing by itself.
    func key<Value>(
        _ name: String, isProtected: Bool = false, as serializer: Serializer<Value> = .json,
        migration: (@Sendable (StorageKey<Value>) -> AnyStorageMigration)? = nil
    ) -> StorageKey<Value> {
        let security: SecurityPolicy =
            switch self {
            case .keychain: .keychain(accessibility: .always)
            case .encryptedFiles: .recommended
            case .files, .database, .groupDatabase, .memory, .server: isProtected ? .recommended : .none
            }
        return StorageKey(
            name: name, domain: domain, security: security, serializer: serializer, owner: "exercise",
            description: "a key of the exercise", migration: migration)
    }
}
