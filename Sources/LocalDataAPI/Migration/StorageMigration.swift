/// Brings older data to a key. This is what an app or a migration pack implements.
///
/// `router` is a transaction: it reads through to the stores, and nothing that is written or removed takes effect until
/// `migrate` has returned a result with `success`. So a migration may stop at any point, and may be run again.
public protocol StorageMigration: Sendable {
    /// The type of the migrated value.
    associatedtype Value: Codable & Sendable

    /// The key that the data comes to.
    var destinationKey: StorageKey<Value> { get }

    /// Whether there is something to do. There is no default, so that a misspelt condition does not compile.
    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool

    /// Does it.
    func migrate(using router: any StorageProviding, context: MigrationContext) async throws -> MigrationResult
}
