/// When a value goes to a sync transport.
public enum SyncPolicy: String, Codable, CaseIterable, Hashable, Sendable {
    /// Never.
    case never
    /// When the app asks for it.
    case manual
    /// On every change, if the value is no larger than the configured limit (100 KB by default).
    case automaticSmall
}
