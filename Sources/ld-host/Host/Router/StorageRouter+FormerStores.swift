internal import LocalDataAPI

extension StorageRouter {
    /// Stops a diagnosis from reporting values that a store keeps of domains that it does not serve. The values stay.
    ///
    /// - Parameters:
    ///   - name: A store. One that served before the configuration was changed is no longer examined, unless domains
    ///     are named.
    ///   - domains: The domains; empty for all that have values.
    /// - Throws: `notFound` if there is nothing to forget.
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
    /// - Throws: `invalidAddress` for a domain without a store.
    func checkDomains(_ domains: [String]) throws(StorageError) {
        for domain in domains where settings.routes[domain] == nil {
            let near = EditDistance.nearest(to: domain, in: settings.routes.keys.sorted(), within: 2)
            throw StorageError(
                .invalidAddress, "no store is mapped to the domain '\(domain)'",
                hint: near.map { "did you mean '\($0)'?" }
                    ?? "expected one of \(settings.routes.keys.sorted().joined(separator: ", "))")
        }
    }
}
