/// What a migration does to its destination.
public enum MigrationEffect: String, Codable, CaseIterable, Hashable, Sendable {
    /// It brings data there. One that reports success and has written nothing there fails.
    case brings
    /// It removes what is there. One that reports success and has left something there fails.
    case removes
}
