internal import LocalDataAPI

/// Which of the known migrations are run or planned. Each comes after those that it depends on.
public enum MigrationSelection: Hashable, Sendable {
    /// All of them, and the moves of the keys of a catalog whose location was changed.
    case all
    /// The one with this id, and those that it depends on.
    case only(String)
    /// The migrations up to the one with this id, in the order of a run.
    case upTo(String)
}
