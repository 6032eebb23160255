/// What a migration does to its destination.
public enum MigrationEffect: String, Codable, CaseIterable, Hashable, Sendable {
    /// It writes the destination. A run that reports success without having written there fails.
    case brings
    /// It removes the destination. A run that reports success and leaves a value there fails.
    case removes
}
