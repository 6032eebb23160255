internal import LocalDataAPI

/// What becomes of a value that a migration finds: decided alike by a run and by a plan, for one key and for many.
enum MigrationVerdict: Sendable {
    /// Its data goes to the destination, whatever is there.
    case bring
    /// It stays, and so does the destination.
    case keep
    /// It is removed, and the destination stays.
    case drop
    /// The migration fails.
    case refuse

    /// - Parameters:
    ///   - isThere: Whether the destination has a value.
    ///   - isSuperseded: Whether the destination was set or removed without it; see ``Supersession``. That decides only
    ///     as long as there is nothing.
    init(_ policy: MigrationConflictPolicy, isThere: Bool, isSuperseded: Bool) {
        switch (policy, isThere) {
        case (.dropSource, true): self = .drop
        case (.keepDestination, true): self = .keep
        case (.takeSource, true): self = .bring
        case (.fail, true): self = .refuse
        case (.dropSource, false): self = isSuperseded ? .drop : .bring
        case (_, false): self = isSuperseded ? .keep : .bring
        }
    }
}
