/// A kind of migration.
package enum ExerciseKind: String, CaseIterable, Sendable {
    /// One value moves.
    case legacy
    /// A preference decides whether one value replaces another.
    case conditional
    /// One value becomes one of another type and format.
    case transforming
    /// Three values become one.
    case aggregating
    /// The version that wrote a value decides.
    case appVersion = "app-version"
    /// A hand-written migration writes and removes several values in both locations.
    case handWritten = "hand-written"
    /// A migration depends on another, and processes the data that it brought.
    case chained
    /// One value is removed, and another keeps a part of it.
    case removing
    /// All values of a range move, and one of them replaces another.
    case bulk
    /// One value moves that is too large for memory.
    case large
    /// All values of a range move unchanged, and one of them is too large for memory.
    case largeBulk = "large-bulk"
    /// One value is converted through the versions of its type.
    case versions
    /// A container takes two steps, which swap, move, remove and add settings.
    case container

    /// The case of this kind between two locations.
    package func make(from source: ExercisePlace, to destination: ExercisePlace) throws -> ExerciseCase {
        let way = ExerciseWay(source: source, destination: destination)
        return switch self {
        case .legacy: try way.legacy()
        case .conditional: try way.conditional()
        case .transforming: try way.transforming()
        case .aggregating: try way.aggregating()
        case .appVersion: try way.appVersion()
        case .handWritten: try way.handWritten()
        case .chained: try way.chained()
        case .removing: try way.removing()
        case .bulk: try way.bulk()
        case .large: try way.large()
        case .largeBulk: try way.largeBulk()
        case .versions: try way.versions()
        case .container: try way.container()
        }
    }
}
