internal import LocalDataAPI

/// What an audit tells of one key.
public struct AuditEntry: Encodable, Sendable {
    /// What becomes of a key's policy here.
    public enum Enforcement: String, Encodable, Sendable {
        /// The key asks for no protection.
        case none
        /// The policy is applied to every value.
        case enforced
        /// The configuration lets values be stored although the policy cannot be applied.
        case advisory
        /// Values are neither read nor written, because the policy cannot be applied.
        case refused
    }

    /// `domain[:scope]/name`.
    public let address: String
    /// The catalog that lists the key; `nil` for one that is stored and in no catalog.
    public let catalog: String?
    /// What the key is.
    public let description: String
    /// Who answers for it.
    public let owner: String
    /// The value's type, if it is known.
    public let type: String
    /// The format of its bytes.
    public let serializer: String
    /// How it is to be protected.
    public let policy: String
    /// What becomes of that here.
    public let enforcement: Enforcement
    /// Why the policy is refused, or why nothing is known of the value.
    public let reason: String?
    /// When it is synchronized.
    public let sync: String
    /// On which devices it may be used.
    public let availability: String
    /// The store that serves it.
    public let store: String?
    /// The store's component.
    public let component: String?
    /// The plugin's file.
    public let plugin: String?
    /// Where the store was chosen.
    public let why: String?
    /// Whether a value is stored; `nil` if it cannot be told.
    public let isStored: Bool?
    /// The value's size in bytes, if the store tells it.
    public let size: UInt64?
    /// When it was written, in nanoseconds since 1970 UTC, if the store tells it.
    public let modified: Int64?
    /// The version of the app that wrote it, if the store tells it.
    public let appVersion: String?
}
