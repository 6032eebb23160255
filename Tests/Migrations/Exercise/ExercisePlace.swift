internal import LocalDataAPI

/// A place that migrations go from or to, as an app's keys name it and as the standard configuration serves it.
package enum ExercisePlace: String, CaseIterable, Sendable {
    /// The file store.
    case files
    /// The file store, with values that the host encrypts.
    case encryptedFiles = "encrypted-files"
    /// The SQLite store.
    case database
    /// A folder of the SQLite store, which keeps a database of its own there.
    case groupDatabase = "group-database"
    /// Sealed files.
    case keychain
    /// The memory store, whose content ends with the process.
    case memory
    /// The PostgreSQL store, at the server that ``serverVariable`` names.
    case server

    /// The environment variable with the URI of the database that ``server`` is in.
    package static let serverVariable = "EXERCISE_SERVER"

    /// The places that outlive a process, each of another kind.
    package static let lasting: [ExercisePlace] = [.files, .encryptedFiles, .database, .keychain]
    /// Pairs of places that are in one store, which cannot change both at once.
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

    /// Whether whatever lies there is protected.
    var isProtected: Bool { self == .encryptedFiles || self == .keychain }

    /// A key of this place; a protected one of a place that protects nothing by itself is encrypted.
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
