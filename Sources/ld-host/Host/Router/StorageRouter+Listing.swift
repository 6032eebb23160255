public import LocalDataAPI

extension StorageRouter {
    /// Hands out the names that are stored in a domain, ascending by their UTF-8 bytes, in pages.
    ///
    /// - Parameters:
    ///   - domain: Whose names.
    ///   - prefix: Only names that start with it.
    ///   - after: Only names after this one.
    ///   - limit: The most names; `nil` for all.
    /// - Throws: `unsupported` if the store cannot list.
    public func names(
        in domain: StorageDomain, prefix: String = "", after: String? = nil, limit: Int? = nil
    ) async throws -> [String] {
        let snapshot = try await snapshot()
        let place = try snapshot.settings.place(of: domain)
        let open = try await openStore(for: place.domain, in: snapshot)
        return try await open.write("listing '\(place)'") { (store) throws(StorageError) in
            var names: [String] = []
            // Some more are asked for than are wanted: names of the host's own are left out, two rings and a key for each
            // store at most.
            let reserved = snapshot.settings.stores.count + 2
            try store.forEachName(in: place, prefix: prefix, after: after, limit: limit.map { $0 + reserved }) {
                if !snapshot.isReserved(StorageAddress(place, name: $0)) { names.append($0) }
                return names.count != limit
            }
            return names
        }
    }

    /// What the store that serves a domain promises.
    public func properties(of domain: StorageDomain) async throws -> StoreProperties {
        let snapshot = try await snapshot()
        return try await openStore(for: domain.name, in: snapshot).store.properties
    }

    /// The domains, with their scopes, that hold values: those that their stores know of, and of folders of the host's
    /// choosing those that the configuration names.
    ///
    /// - Returns: The domains in order of their addresses, and the errors of stores that could not be asked.
    public func populatedDomains() async throws -> (domains: [StorageDomain], failures: [StorageError]) {
        let snapshot = try await snapshot()
        var found: [StorageNamespace: StorageDomain] = [:]
        var failures: [StorageError] = []
        for domain in snapshot.settings.routes.keys.sorted() {
            do throws(StorageError) {
                found.merge(try await places(of: domain, in: snapshot)) { first, _ in first }
            } catch {
                if !failures.contains(where: { $0.message == error.message }) { failures.append(error) }
            }
        }
        return (found.values.sorted { $0.description < $1.description }, failures)
    }

    private func places(
        of domain: String, in snapshot: RouterSnapshot
    ) async throws(StorageError) -> [StorageNamespace: StorageDomain] {
        let open = try await openStore(for: domain, in: snapshot)
        guard open.store.abilities.enumeration != nil else { return [:] }
        let known = snapshot.settings.knownDomains(named: domain)
        let places: [StorageNamespace] = try await open.write("listing '\(open.name)'") {
            (store) throws(StorageError) in
            var places: [StorageNamespace] = []
            try store.forEachPlace {
                if $0.domain == domain { places.append($0) }
                return true
            }
            for place in known.keys {
                try store.forEachName(in: place, limit: 1) { _ in
                    places.append(place)
                    return false
                }
            }
            return places
        }
        return Dictionary(
            places.map { ($0, known[$0] ?? snapshot.settings.domain(of: $0)) }, uniquingKeysWith: { first, _ in first })
    }
}

extension HostSettings {
    /// The places of a domain that the configuration alone determines, with the domain that each is.
    func knownDomains(named name: String) -> [StorageNamespace: StorageDomain] {
        let candidates: [StorageDomain] =
            switch name {
            case "userDefaults": [.userDefaults()]
            case "appGroupUserDefaults": [.appGroupUserDefaults()]
            case "keychain": [.keychain()]
            case "fileSystem": [.fileSystem(), .fileSystem(directory: .caches)]
            case "encryptedFileSystem": [.encryptedFileSystem(), .encryptedFileSystem(directory: .caches)]
            case "appGroupFileSystem": [.appGroupFileSystem(), .appGroupFileSystem(directory: .caches)]
            default: [.custom(name: name)]
            }
        var places: [StorageNamespace: StorageDomain] = [:]
        for domain in candidates {
            if let place = try? place(of: domain) { places[place] = domain }
        }
        return places
    }

    /// The domain that a place found in a store is.
    func domain(of place: StorageNamespace) -> StorageDomain {
        let suffix = subDirectory.map { "/\($0)" } ?? ""
        let scope = place.scope.hasSuffix(suffix) ? String(place.scope.dropLast(suffix.count)) : place.scope
        return (try? StorageDomain(name: place.domain, scope: scope))
            ?? .custom(name: place.domain, scope: place.scope)
    }
}
