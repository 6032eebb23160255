internal import LocalDataAPI

extension StorageRouter {
    /// Has a diagnosis no longer report values that a store keeps of domains which it does not serve. They stay there.
    ///
    /// - Parameters:
    ///   - name: A store. One that served before the configuration was changed is no longer looked at, unless domains
    ///     are named.
    ///   - domains: Of which domains; none for all of which there are values.
    /// - Throws: `notFound` if there is nothing to be forgotten.
    public func forgetLeftValues(in name: String, domains: [String] = []) async throws {
        let snapshot = try await snapshot()
        try await onIOThread { () throws(StorageError) in
            let history = RouteHistory(snapshot.settings.folders)
            if domains.isEmpty, snapshot.slot(ofStore: name) == nil { return try history.remove(name) }
            try snapshot.checkDomains(domains)
            let left = snapshot.leftValues(in: snapshot.slotOrComponent(name)).map(\.domain)
            let chosen = domains.isEmpty ? left : left.filter(domains.contains)
            guard !chosen.isEmpty else {
                throw StorageError(
                    .notFound,
                    "store '\(name)' has no values\(domains.isEmpty ? "" : " of \(domains.joined(separator: ", "))") "
                        + "but of domains that it serves")
            }
            try history.acknowledge(chosen, in: name)
        }
    }
}

extension RouterSnapshot {
    /// - Throws: `invalidAddress` for a domain that no store is mapped to.
    func checkDomains(_ domains: [String]) throws(StorageError) {
        for domain in domains where settings.routes[domain] == nil {
            let near = EditDistance.nearest(to: domain, in: settings.routes.keys.sorted(), within: 2)
            throw StorageError(
                .invalidAddress, "no store is mapped to the domain '\(domain)'",
                hint: near.map { "did you mean '\($0)'?" }
                    ?? "known are \(settings.routes.keys.sorted().joined(separator: ", "))")
        }
    }
}
