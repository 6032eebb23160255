internal import LocalDataAPI

/// The domains that the host keeps for itself. None of them can be configured.
extension HostSettings {
    /// What their names start with; upper case counts as lower case.
    package static let reservedDomains = "localdata."

    /// Where a store keeps the ledger of its migrations, and the images of what they replaced and removed.
    static let ledgerNamespace = StorageNamespace(domain: reservedDomains + "migrations")

    /// Where the keychain's store keeps the list of key rings.
    static let ringListDomain = reservedDomains + "rings"

    /// Whether a namespace is the host's own, other than those of the ledger and of the list of rings: what is there is
    /// sealed and copied as values are.
    static func isReserved(_ place: StorageNamespace) -> Bool {
        place.domain.lowercased().hasPrefix(reservedDomains) && place != ledgerNamespace
            && place.domain != ringListDomain
    }
}
