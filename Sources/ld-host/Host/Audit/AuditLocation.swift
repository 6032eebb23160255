/// What an audit says of the keys of one scope of a domain together.
public struct AuditLocation: Encodable, Sendable {
    /// `domain[:scope]`.
    public let location: String
    /// The store that serves it.
    public private(set) var store: String?
    /// The plugin's file.
    public private(set) var plugin: String?
    /// Where the store was chosen.
    public private(set) var why: String?
    /// How many keys there are, also those never written.
    public private(set) var keys = 0
    /// How many of them are stored.
    public private(set) var stored = 0
    /// How many are in no catalog.
    public private(set) var uncataloged = 0
    /// How many bytes are stored, as far as the store tells.
    public private(set) var size: UInt64 = 0
    /// How many keys are protected how: `plain`, or what becomes of a policy.
    public private(set) var protection: [String: Int] = [:]
    /// Why a policy is refused or only advisory, or why nothing is known of a value: of the first key of which that is
    /// so.
    public private(set) var reason: String?

    init(_ location: String) { self.location = location }

    mutating func add(_ entry: AuditEntry) {
        if keys == 0 { (store, plugin, why) = (entry.store, entry.plugin, entry.why) }
        keys += 1
        if entry.isStored == true { stored += 1 }
        if entry.catalog == nil { uncataloged += 1 }
        size += entry.size ?? 0
        protection[entry.enforcement.tag, default: 0] += 1
        reason = reason ?? entry.reason.map { "\(entry.address): \($0)" }
    }
}

extension AuditEntry.Enforcement {
    /// The word for people.
    package var tag: String { self == .none ? "plain" : rawValue }
}
