public import LocalDataAPI

/// Changes in a domain, or in one of its scopes.
public struct ScopeChanges: Hashable, Sendable {
    /// The location as the beginning of an address: `userDefaults:languages`; the domain's name if it may be any of its
    /// scopes.
    public let location: String
    /// The scope; `nil` if it may be any of the domain's.
    public let scope: StorageDomain?
    /// The names, and whether others may have changed too.
    public let changed: ChangedNames
}
