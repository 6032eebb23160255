/// The audit's summary of the keys in one scope of a domain.
public struct AuditLocation: Encodable, Sendable {
    /// `domain[:scope]`.
    public let location: String
    /// The store that serves it.
    public private(set) var store: String?
    /// The plugin's file.
    public private(set) var plugin: String?
    /// Where the store was chosen.
    public private(set) var why: String?
    /// The number of keys, including those never written.
    public private(set) var keys = 0
    /// The number of stored keys.
    public private(set) var stored = 0
    /// The number of keys in no catalog.
    public private(set) var uncataloged = 0
    /// The number of keys with a sync policy that nothing carries out here.
    public private(set) var unsynced = 0
    /// The number of stored bytes, as far as the store reports it.
    public private(set) var size: UInt64 = 0
    /// The number of keys by protection: `plain`, or how the policy is applied.
    public private(set) var protection: [String: Int] = [:]
    /// Why a policy is refused, only advisory or without effect, or why a value could not be examined: for the first
    /// such key.
    public private(set) var reason: String?

    init(_ location: String) { self.location = location }

    mutating func add(_ entry: AuditEntry) {
        if keys == 0 { (store, plugin, why) = (entry.store, entry.plugin, entry.why) }
        keys += 1
        if entry.isStored == true { stored += 1 }
        if entry.catalog == nil { uncataloged += 1 }
        size += entry.size ?? 0
        protection[entry.enforcement.tag, default: 0] += 1
        if entry.syncProblem != nil { unsynced += 1 }
        reason = reason ?? (entry.reason ?? entry.syncProblem).map { "\(entry.address): \($0)" }
    }
}

extension AuditEntry.Enforcement {
    /// The word for people.
    package var tag: String { self == .none ? "plain" : rawValue }
}
