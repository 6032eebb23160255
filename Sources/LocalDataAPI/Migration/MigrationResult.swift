public import FoundationEssentials

/// How a migration ended.
public struct MigrationResult: Sendable {
    /// Whether its changes are to take effect.
    public let success: Bool
    /// How many values came to their destination.
    public let migratedCount: Int
    /// What went wrong.
    public let errors: [MigrationError]
    /// What the migration wants to tell besides.
    public let metadata: [String: AnyCodable]
    /// How long it took, in seconds.
    public let duration: TimeInterval
    /// What became of it; the host fills this in.
    public let outcome: MigrationOutcome

    /// The version of the app whose data the migration has made, as its metadata say it under `dataVersion`; `nil` for
    /// the running app's. It is recorded with what the migration wrote, so that the steps between two versions follow
    /// each other.
    public var dataVersion: String? {
        guard case .string(let version)? = metadata["dataVersion"]?.content else { return nil }
        return version
    }

    /// Creates a result.
    ///
    /// - Parameter outcome: `migrated` or `failed` if `nil`, as `success` says.
    public init(
        success: Bool, migratedCount: Int = 0, errors: [MigrationError] = [], metadata: [String: AnyCodable] = [:],
        duration: TimeInterval = 0, outcome: MigrationOutcome? = nil
    ) {
        self.success = success
        self.migratedCount = migratedCount
        self.errors = errors
        self.metadata = metadata
        self.duration = duration
        self.outcome = outcome ?? (success ? .migrated : .failed)
    }
}
