public import LocalDataAPI

/// Selects values for listing, exporting, watching and auditing.
public enum StorageSelection: Hashable, Sendable {
    /// Every domain that a store serves.
    case everything
    /// A domain by its name, with all its scopes.
    case domain(String)
    /// One scope of a domain, limited to names that start with a prefix.
    case scope(StorageDomain, prefix: String = "")

    /// Parses `DOMAIN` for all scopes of a domain, `DOMAIN:SCOPE` for one, or the beginning of addresses in one scope:
    /// `DOMAIN/` is the scope of keys that name none, such as the own suite of the app in `userDefaults`.
    ///
    /// - Throws: `invalidAddress` with what is wrong with the text.
    public init(_ text: String) throws(StorageError) {
        let parts = try StorageAddress.parts(of: text)
        let domain = try StorageDomain(name: parts.domain, scope: parts.scope)
        self =
            parts.scope == nil && parts.name == nil ? .domain(parts.domain) : .scope(domain, prefix: parts.name ?? "")
    }

    /// The selected domain; `nil` for all.
    public var domain: String? {
        switch self {
        case .everything: nil
        case .domain(let name): name
        case .scope(let domain, _): domain.name
        }
    }

    /// Whether a name in a scope is selected.
    public func contains(_ domain: StorageDomain, _ name: String) -> Bool {
        switch self {
        case .everything: true
        case .domain(let own): own.hasBytes(of: domain.name)
        case .scope(let own, let prefix): own == domain && name.utf8.starts(with: prefix.utf8)
        }
    }
}
