internal import LocalDataAPI

/// The host's own domains. None of them can be configured.
extension HostSettings {
    /// The prefix of their names; case is ignored.
    package static let reservedDomains = "localdata."

    /// Where a store keeps the ledger of its migrations, and the old values that they replaced and removed.
    static let ledgerNamespace = StorageNamespace(domain: reservedDomains + "migrations")

    /// Where the keychain's store keeps the list of key rings.
    static let ringListDomain = reservedDomains + "rings"

    /// Whether a namespace is the host's own, apart from those of the ledger and of the list of rings, whose contents
    /// are sealed and copied like values.
    static func isReserved(_ place: StorageNamespace) -> Bool {
        place.domain.lowercased().hasPrefix(reservedDomains) && place != ledgerNamespace
            && place.domain != ringListDomain
    }
}
