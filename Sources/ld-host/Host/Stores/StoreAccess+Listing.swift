internal import LocalDataAPI

/// What stores hold.
extension StoreAccess {
    /// Hands out the names that are stored in a domain, ascending by their UTF-8 bytes, in pages.
    ///
    /// - Parameters:
    ///   - domain: Whose names.
    ///   - prefix: Only names that start with it.
    ///   - after: Only names after this one.
    ///   - limit: The most names; `nil` for all.
    /// - Throws: `unsupported` if the store cannot list.
    func names(
        in domain: StorageDomain, prefix: String = "", after: String? = nil, limit: Int? = nil
    ) async throws -> [String] {
        let place = try snapshot.settings.place(of: domain)
        let open = try await openStore(for: place.domain)
        if let adoption = FolderAdoption(domain, security: .recommended, in: open, snapshot) {
            try await onIOThread { () throws(StorageError) in try adoption.adoptAll() }
        }
        return try await open.write("listing '\(place)'") { (store) throws(StorageError) in
            let isReserved = try snapshot.reservedNames(in: place, of: open)
            var names: [String] = []
            var after = after
            // Names of the host's own are left out, and others asked for in their place.
            while names.count != limit {
                let wanted = limit.map { $0 - names.count }
                var found = 0
                try store.forEachName(in: place, prefix: prefix, after: after, limit: wanted) {
                    found += 1
                    after = $0
                    if !isReserved($0) { names.append($0) }
                    return true
                }
                guard let wanted, found >= wanted else { break }
            }
            return names
        }
    }

    /// Hands out the same names one after the other, with memory for one page of them.
    ///
    /// - Throws: `unsupported` if the store cannot list; what `body` throws.
    func forEachName(
        in domain: StorageDomain, prefix: String = "", _ body: (String) async throws -> Void
    ) async throws {
        var last: String?
        repeat {
            let page = try await names(in: domain, prefix: prefix, after: last, limit: Self.namesAtOnce)
            for name in page { try await body(name) }
            last = page.count == Self.namesAtOnce ? page.last : nil
        } while last != nil
    }

    private static var namesAtOnce: Int { 10_000 }

    /// The domains, with their scopes, that hold values: those that their stores know of, and of folders of the host's
    /// choosing those that the configuration names.
    ///
    /// - Returns: The domains in order of their addresses, and the errors of stores that could not be asked.
    func populatedDomains() async throws -> (domains: [StorageDomain], failures: [StorageError]) {
        let (domains, failures) = try await populatedDomains(besides: [])
        return (domains, failures.map(\.error))
    }

    /// The same of one domain, in all its scopes.
    ///
    /// - Throws: `invalidConfiguration` if no store serves the domain; `unsupported` if its store cannot list; and what
    ///   the store reports.
    func populatedDomains(named name: String) async throws -> [StorageDomain] {
        let open = try await openStore(for: name)
        guard open.store.abilities.enumeration != nil else {
            throw StorageError(
                .unsupported, "store '\(open.name)', which serves '\(name)', cannot list what it holds",
                hint: "values can be read whose names are known: get")
        }
        return try await places(of: name).values.sorted { $0.description < $1.description }
    }

    /// The same, without asking some stores.
    ///
    /// - Returns: Each error with the name of its store.
    func populatedDomains(
        besides others: Set<String>
    ) async throws -> (domains: [StorageDomain], failures: [(store: String, error: StorageError)]) {
        var found: [StorageNamespace: StorageDomain] = [:]
        var failures: [(store: String, error: StorageError)] = []
        var silent = others
        for domain in snapshot.settings.routes.keys.sorted() {
            let store = snapshot.settings.routes[domain]?.store.name ?? ""
            // A store that did not answer once is not waited for again.
            guard !silent.contains(store) else { continue }
            do throws(StorageError) {
                found.merge(try await places(of: domain)) { first, _ in first }
            } catch {
                if error.code == .timedOut { silent.insert(store) }
                if !failures.contains(where: { $0.error.message == error.message }) { failures.append((store, error)) }
            }
        }
        return (found.values.sorted { $0.description < $1.description }, failures)
    }

    /// The scopes of a domain that hold values, in order of their bytes; none if the store cannot list them.
    func populatedScopes(of domain: String) async throws -> [String] {
        let places = try await places(of: domain).keys
        return Set(places.map(\.scope)).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private func places(
        of domain: String
    ) async throws(StorageError) -> [StorageNamespace: StorageDomain] {
        let open = try await openStore(for: domain)
        guard open.store.abilities.enumeration != nil else { return [:] }
        let known = snapshot.settings.knownDomains(named: domain)
        let populated = try await open.write("listing '\(open.name)'") { (store) throws(StorageError) in
            var places: [StorageNamespace] = []
            for place in known.keys {
                try store.forEachName(in: place, limit: 1) { _ in
                    places.append(place)
                    return false
                }
            }
            return places
        }
        var places = try await listedPlaces(of: domain)
        for place in populated where places[place] == nil { places[place] = known[place] }
        return places
    }

    /// The places of a domain that its store lists; none if it cannot.
    func listedPlaces(
        of domain: String
    ) async throws(StorageError) -> [StorageNamespace: StorageDomain] {
        let open = try await openStore(for: domain)
        guard open.store.abilities.enumeration != nil else { return [:] }
        let known = snapshot.settings.knownDomains(named: domain)
        let places: [StorageNamespace] = try await open.write("listing '\(open.name)'") {
            (store) throws(StorageError) in
            var places: [StorageNamespace] = []
            try store.forEachPlace {
                if $0.domain == domain { places.append($0) }
                return true
            }
            return places
        }
        return Dictionary(
            places.map { ($0, known[$0] ?? snapshot.settings.domain(of: $0)) }, uniquingKeysWith: { first, _ in first })
    }

    /// The scopes of a selection that hold values, with the prefix of the names that are selected there.
    ///
    /// Folders of the user's own choosing, which stores do not list, are selected by their addresses alone.
    ///
    /// - Returns: The scopes in order of their addresses, and the errors of stores that could not be asked.
    /// - Throws: What keeps a selected domain from being listed.
    func scopes(
        of selection: StorageSelection
    ) async throws -> (scopes: [(domain: StorageDomain, prefix: String)], failures: [StorageError]) {
        switch selection {
        case .everything:
            let (domains, failures) = try await populatedDomains()
            return (domains.map { ($0, "") }, failures)
        case .domain(let name): return (try await populatedDomains(named: name).map { ($0, "") }, [])
        case .scope(let domain, let prefix): return ([(domain, prefix)], [])
        }
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
