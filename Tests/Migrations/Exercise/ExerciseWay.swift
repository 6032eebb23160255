internal import LocalDataAPI

/// Two locations, which may be the same, and keys of both.
struct ExerciseWay: Sendable {
    let source: ExercisePlace
    let destination: ExercisePlace

    func old<Value>(_ name: String, as serializer: Serializer<Value> = .json) -> StorageKey<Value> {
        source.key(name, as: serializer)
    }

    /// A key of the destination. A value does not lose its protection when it moves.
    func new<Value>(
        _ name: String, as serializer: Serializer<Value> = .json,
        migration: (@Sendable (StorageKey<Value>) -> AnyStorageMigration)? = nil
    ) -> StorageKey<Value> {
        destination.key(name, isProtected: source.isProtected, as: serializer, migration: migration)
    }

    /// Values that every case has in both locations, and that no migration may change.
    func neighbours() throws -> [ExerciseValue] {
        [try ExerciseValue(old("old neighbour"), "stays"), try ExerciseValue(new("new neighbour"), "stays")]
    }
}
