/// A migration that detects the changes between two versions of a container.
///
/// ```swift
/// extension MySettings: ContainerMigration {
///     static func migrate(
///         from previous: ContainerDefinition, to current: ContainerDefinition, using store: ContainerStore
///     ) async throws {
///         for change in detectChanges(from: previous, to: current) { ... }
///     }
/// }
/// static let steps = [ContainerStep(from: 1, to: 2, by: MySettings.self, previous: ContainerDefinition(...))]
/// ```
public protocol ContainerMigration: SendableMetatype {
    /// Takes the data from the previous version of a container to the current one.
    static func migrate(
        from previous: ContainerDefinition, to current: ContainerDefinition, using store: ContainerStore
    ) async throws
}

extension ContainerMigration {
    /// Moves a value between two stored keys; an absent one is fine.
    ///
    /// - Throws: `conflict` naming both keys if the other one has a value.
    public static func migrateKey(from oldKey: String, to newKey: String, store: ContainerStore) async throws {
        try await store.rename(.stored(oldKey), to: .stored(newKey))
    }
}
