public import LocalDataAPI

/// A migration that fails with an error, for tests of what an app does then.
public struct FailingMigration<Value: Codable & Sendable>: StorageMigration {
    /// The key that it would bring a value to.
    public let destinationKey: StorageKey<Value>
    private let error: MigrationError

    /// - Parameter error: What its result has.
    public init(destinationKey: StorageKey<Value>, error: MigrationError) {
        self.destinationKey = destinationKey
        self.error = error
    }

    /// It always wants to run.
    public func shouldMigrate(using storage: any StorageProviding, context: MigrationContext) async throws -> Bool {
        true
    }

    /// Fails with the error.
    public func migrate(using storage: any StorageProviding, context: MigrationContext) async throws -> MigrationResult
    {
        MigrationResult(success: false, errors: [error])
    }
}
