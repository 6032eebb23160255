public import LocalDataAPI

/// A scope that a selection includes, with the names to list.
public struct SelectedScope: Sendable {
    /// The scope's domain.
    public let domain: StorageDomain
    /// The prefix of the selected names; empty for all.
    public let prefix: String
    let names: ListedNames

    package init(domain: StorageDomain, prefix: String) {
        self.domain = domain
        self.prefix = prefix
        names = .all
    }

    package init(_ place: KnownPlace) {
        domain = place.domain
        prefix = ""
        names = place.names
    }
}
