internal import LocalDataAPI

/// Two places, of which one may be the other, and keys of both.
struct ExerciseWay: Sendable {
    let source: ExercisePlace
    let destination: ExercisePlace

    func old<Value>(_ name: String, as serializer: Serializer<Value> = .json) -> StorageKey<Value> {
        source.key(name, as: serializer)
    }

    /// A key of the destination. Values do not lose their protection on the way.
    func new<Value>(
        _ name: String, as serializer: Serializer<Value> = .json,
        migration: (@Sendable (StorageKey<Value>) -> AnyStorageMigration)? = nil
    ) -> StorageKey<Value> {
        destination.key(name, isProtected: source.isProtected, as: serializer, migration: migration)
    }

    /// A value that every case has in both places, and that nobody may touch.
    func neighbours() throws -> [ExerciseValue] {
        [try ExerciseValue(old("old neighbour"), "stays"), try ExerciseValue(new("new neighbour"), "stays")]
    }
}
