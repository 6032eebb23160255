internal import HostGround
internal import LocalDataAPI

/// The audit's report on one key.
public struct AuditEntry: Encodable, Sendable {
    /// How this configuration applies a key's policy.
    public enum Enforcement: String, Encodable, Sendable {
        /// The key needs no protection.
        case none
        /// The policy is applied to every value.
        case enforced
        /// The configuration accepts values although the policy cannot be applied.
        case advisory
        /// Values can be neither read nor written, because the policy cannot be applied.
        case refused
    }

    /// `domain[:scope]/name`.
    public let address: String
    /// The catalog that lists the key; `nil` for a stored key without a catalog.
    public let catalog: String?
    /// The key's description.
    public let description: String
    /// The key's owner.
    public let owner: String
    /// The value's type, if it is known.
    public let type: String
    /// The format of its bytes.
    public let serializer: String
    /// The key's policy.
    public let policy: String
    /// How the policy is applied here.
    public let enforcement: Enforcement
    /// Why the policy is refused, why the value could not be examined, or how the policy of a key in no catalog is
    /// known.
    public let reason: String?
    /// When it is synchronized.
    public let sync: String
    /// What keeps a value with a sync policy from being synchronized here: no transport is configured.
    public let syncProblem: String?
    /// The devices that may use the key.
    public let availability: String
    /// The store that serves it.
    public let store: String?
    /// The store's component.
    public let component: String?
    /// The plugin's file.
    public let plugin: String?
    /// Where the store was chosen.
    public let why: String?
    /// Whether a value is stored; `nil` if unknown.
    public let isStored: Bool?
    /// The value's size in bytes, if the store reports it.
    public let size: UInt64?
    /// When the value was written, in nanoseconds since 1970 UTC, if the store reports it.
    public let modified: Int64?
    /// When the value expires, in nanoseconds since 1970 UTC, if it does.
    public let expires: Int64?
    /// The version of the app that wrote the value, if the store reports it.
    public let appVersion: String?

    private enum CodingKeys: CodingKey {
        case address, catalog, description, owner, type, serializer, policy, enforcement, reason, sync, syncProblem
        case availability, store, component, plugin, why, isStored, size, modified, expires, appVersion
    }

    /// Writes times as text, e.g. `2026-01-31T12:00:00.000000250Z`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(address, forKey: .address)
        try container.encodeIfPresent(catalog, forKey: .catalog)
        try container.encode(description, forKey: .description)
        try container.encode(owner, forKey: .owner)
        try container.encode(type, forKey: .type)
        try container.encode(serializer, forKey: .serializer)
        try container.encode(policy, forKey: .policy)
        try container.encode(enforcement, forKey: .enforcement)
        try container.encodeIfPresent(reason, forKey: .reason)
        try container.encode(sync, forKey: .sync)
        try container.encodeIfPresent(syncProblem, forKey: .syncProblem)
        try container.encode(availability, forKey: .availability)
        try container.encodeIfPresent(store, forKey: .store)
        try container.encodeIfPresent(component, forKey: .component)
        try container.encodeIfPresent(plugin, forKey: .plugin)
        try container.encodeIfPresent(why, forKey: .why)
        try container.encodeIfPresent(isStored, forKey: .isStored)
        try container.encodeIfPresent(size, forKey: .size)
        try container.encodeIfPresent(modified.map { JSONTime(nanoseconds: $0) }, forKey: .modified)
        try container.encodeIfPresent(expires.map { JSONTime(nanoseconds: $0) }, forKey: .expires)
        try container.encodeIfPresent(appVersion, forKey: .appVersion)
    }
}
