public import LocalDataAPI

/// A migration that does what a test says, for tests of what an app does before, during and after one.
///
/// ```swift
/// try await router.registerMigration(MockMigration(destinationKey: .title, bringing: "Dr."))
/// ```
public struct MockMigration<Value: Codable & Sendable>: StorageMigration {
    /// The key that it brings a value to.
    public let destinationKey: StorageKey<Value>
    private let shouldMigrate: Bool
    private let delay: Duration
    private let value: Value?
    private let result: MigrationResult

    /// - Parameters:
    ///   - shouldMigrate: Whether it wants to run.
    ///   - delay: How long it runs.
    ///   - value: What it stores under the key; `nil` for nothing.
    ///   - shouldSucceed: Whether it succeeds; if not, it stores nothing, and its result has `transformationFailed`.
    public init(
        destinationKey: StorageKey<Value>, shouldMigrate: Bool = true, delay: Duration = .zero,
        bringing value: Value? = nil, shouldSucceed: Bool = true
    ) {
        self.destinationKey = destinationKey
        self.shouldMigrate = shouldMigrate
        self.delay = delay
        self.value = shouldSucceed ? value : nil
        result =
            shouldSucceed
            ? MigrationResult(success: true, migratedCount: value == nil ? 0 : 1)
            : MigrationResult(success: false, errors: [MigrationError(.transformationFailed, "it is to fail")])
    }

    /// Whether it was made to run.
    public func shouldMigrate(using storage: any StorageProviding, context: MigrationContext) async throws -> Bool {
        shouldMigrate
    }

    /// Waits, stores the value, and returns the result.
    public func migrate(using storage: any StorageProviding, context: MigrationContext) async throws -> MigrationResult
    {
        try await Task.sleep(for: delay)
        if let value { try await storage.set(value, for: destinationKey) }
        return result
    }
}
