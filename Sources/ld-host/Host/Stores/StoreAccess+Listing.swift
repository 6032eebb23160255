internal import HostGround
internal import HostPlugins
package import LocalDataAPI

/// Listing what stores hold.
extension StoreAccess {
    /// The names stored in a domain, ascending by their UTF-8 bytes, in pages.
    ///
    /// - Parameters:
    ///   - domain: The domain.
    ///   - prefix: Only names that start with it.
    ///   - after: Only names after this one.
    ///   - limit: The most names; `nil` for all.
    /// - Throws: `unsupported` if the store cannot list.
    package func names(
        in domain: StorageDomain, prefix: String = "", after: String? = nil, limit: Int? = nil
    ) async throws -> [String] {
        let place = try snapshot.settings.place(of: domain)
        let open = try await openStore(for: place.domain)
        return try await open.write("listing '\(place)'") { (store) throws(StorageError) in
            let isReserved = try snapshot.reservedNames(in: place, of: open)
            var names: [String] = []
            var after = after
            // Replaces the host's own names by further ones.
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

    /// Passes names one by one, holding one page of them in memory.
    ///
    /// - Parameter page: A number of names after one.
    package static func forEach(
        _ page: (_ after: String?, _ limit: Int) async throws -> [String], _ body: (String) async throws -> Void
    ) async throws {
        var last: String?
        repeat {
            let names = try await page(last, namesAtOnce)
            for name in names { try await body(name) }
            last = names.count == namesAtOnce ? names.last : nil
        } while last != nil
    }

    private static var namesAtOnce: Int { 10_000 }

    /// Passes the names of a scope that a selection includes.
    ///
    /// - Throws: `unsupported` if the store cannot list; what `body` throws.
    package func forEachName(in scope: SelectedScope, _ body: (String) async throws -> Void) async throws {
        try await Self.forEach({ try await names(in: scope, after: $0, limit: $1) }, body)
    }

    /// The names of a scope that a selection includes, ascending by their UTF-8 bytes, in pages.
    ///
    /// - Parameters:
    ///   - after: Only names after this one.
    ///   - limit: The most names.
    package func names(in scope: SelectedScope, after: String?, limit: Int) async throws -> [String] {
        guard case .only(let names) = scope.names else {
            return try await self.names(in: scope.domain, prefix: scope.prefix, after: after, limit: limit)
        }
        let place = try snapshot.settings.place(of: scope.domain)
        let open = try await openStore(for: place.domain)
        return try await open.write("listing '\(place)'") { (store) throws(StorageError) in
            var found: [String] = []
            for name in names where name.utf8.starts(with: scope.prefix.utf8) && found.count < limit {
                if let after, !after.utf8.lexicographicallyPrecedes(name.utf8) { continue }
                if try store.hasValue(named: name, in: place) { found.append(name) }
            }
            return found
        }
    }

    /// The scopes of all domains that hold values: those that their stores list, and those in folders that the
    /// configuration, an app group or a catalog determines.
    ///
    /// - Returns: The scopes ordered by address, and the errors of stores that could not list.
    package func populatedDomains() async throws -> (domains: [StorageDomain], failures: [StorageError]) {
        let (places, failures) = try await populatedPlaces(besides: [])
        return (places.map(\.domain), failures.map(\.error))
    }

    /// The scopes of one domain that hold values.
    ///
    /// - Throws: `invalidConfiguration` if no store serves the domain; `unsupported` if its store cannot list; and what
    ///   the store reports.
    package func populatedPlaces(of name: String) async throws -> [KnownPlace] {
        let (places, failure) = try await listedPlaces(of: name)
        if let failure { throw failure }
        return places
    }

    /// The same, as far as they are found, and why the list is not complete.
    private func listedPlaces(of name: String) async throws -> (places: [KnownPlace], failure: StorageError?) {
        let open = try await openStore(for: name)
        guard open.store.abilities.enumeration != nil else {
            throw StorageError(
                .unsupported, "store '\(open.name)', which serves '\(name)', cannot list its values",
                hint: "read values by name: ld-host get ADDRESS")
        }
        let (places, failure) = await foundPlaces(of: name)
        if let failure, places.isEmpty { throw failure }
        return (Self.ordered(places), failure)
    }

    /// Those of all domains, skipping some stores.
    ///
    /// - Returns: Each error with the name of its store.
    package func populatedPlaces(
        besides others: Set<String>
    ) async throws -> (places: [KnownPlace], failures: [(store: String, error: StorageError)]) {
        var found: [StorageNamespace: KnownPlace] = [:]
        var failures: [(store: String, error: StorageError)] = []
        var silent = others
        for domain in snapshot.settings.routes.keys.sorted() {
            let store = snapshot.settings.routes[domain]?.store.name ?? ""
            // Does not wait again for a store that has already timed out.
            guard !silent.contains(store) else { continue }
            let (places, failure) = await foundPlaces(of: domain)
            found.merge(places) { first, _ in first }
            guard let failure else { continue }
            if failure.code == .timedOut { silent.insert(store) }
            if !failures.contains(where: { $0.error.message == failure.message }) { failures.append((store, failure)) }
        }
        return (Self.ordered(found), failures)
    }

    private static func ordered(_ places: [StorageNamespace: KnownPlace]) -> [KnownPlace] {
        places.values.sorted { $0.domain.description < $1.domain.description }
    }

    /// The scopes of a domain that hold values, ordered by their bytes; empty if the store cannot list them.
    package func populatedScopes(of domain: String) async throws -> [String] {
        let places = try await places(of: domain).keys
        return Set(places.map(\.scope)).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The identifiers of the apps that have values, ordered by their bytes, and the errors of stores that could not
    /// list: the suites of `userDefaults`, and the apps whose files are stored.
    package func apps() async throws -> (apps: [String], failures: [StorageError]) {
        let (places, failures) = try await populatedDomains()
        let apps = Set(places.compactMap { (try? snapshot.settings.place(of: $0))?.app }.map(ExactText.init))
        return (apps.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }, failures)
    }

    /// The apps, other than the own one, that have a value of this name where the key would be as theirs.
    package func apps(having key: AnyStorageKey) async throws -> [String] {
        guard key.place == nil, key.descriptor.domain.belongsToApp, key.descriptor.domain.name != "keychain" else {
            return []
        }
        var found: [String] = []
        for app in try await apps().apps where !app.hasBytes(of: snapshot.settings.appID) {
            let domain = key.descriptor.domain.ofApp(app)
            let place = try snapshot.settings.place(of: domain)
            let open = try await openStore(for: place.domain)
            let name = key.descriptor.name
            let isStored = try await open.write("looking for '\(place)/\(name)'") { (store) throws(StorageError) in
                try store.hasValue(named: name, in: place)
            }
            if isStored { found.append(app) }
        }
        return found
    }

    /// The namespaces of a domain that hold values; empty if its store cannot list.
    func places(of domain: String) async throws(StorageError) -> [StorageNamespace: KnownPlace] {
        let (places, failure) = await foundPlaces(of: domain)
        if let failure { throw failure }
        return places
    }

    /// The same, as far as they are found, and why the list is not complete.
    private func foundPlaces(
        of domain: String
    ) async -> (places: [StorageNamespace: KnownPlace], failure: StorageError?) {
        do throws(StorageError) {
            let open = try await openStore(for: domain)
            guard open.store.abilities.enumeration != nil else { return ([:], nil) }
            return try await open.write("listing '\(open.name)'") { (store) throws(StorageError) in
                foundPlaces(of: domain, in: open, store)
            }
        } catch { return ([:], error) }
    }

    private func foundPlaces(
        of domain: String, in open: OpenStore, _ store: LoadedStore
    ) -> (places: [StorageNamespace: KnownPlace], failure: StorageError?) {
        var places: [StorageNamespace: KnownPlace] = [:]
        var failure: StorageError?
        for (place, known) in snapshot.knownPlaces(of: domain, in: open) {
            do throws(StorageError) {
                if try store.hasValue(in: place, known.names) { places[place] = known }
            } catch { failure = failure ?? error }
        }
        do throws(StorageError) {
            try store.forEachPlace { place in
                if place.domain == domain, snapshot.isListed(place, in: open) {
                    places[place] = KnownPlace(domain: snapshot.settings.domain(of: place))
                }
                return true
            }
        } catch { failure = failure ?? error }
        return (places, failure)
    }

    /// The scopes of a selection that hold values.
    ///
    /// The user's own folders, which stores do not list, are selected by address, or by a catalog that names them.
    ///
    /// - Returns: The scopes ordered by address, and the errors of stores that could not list.
    /// - Throws: Why a selected domain cannot be listed.
    package func scopes(
        of selection: StorageSelection
    ) async throws -> (scopes: [SelectedScope], failures: [StorageError]) {
        switch selection {
        case .everything:
            let (places, failures) = try await populatedPlaces(besides: [])
            return (places.map(SelectedScope.init), failures.map(\.error))
        case .domain(let name):
            let (places, failure) = try await listedPlaces(of: name)
            return (places.map(SelectedScope.init), failure.map { [$0] } ?? [])
        case .scope(let domain, let prefix):
            return ([SelectedScope(domain: snapshot.settings.shortest(domain), prefix: prefix)], [])
        }
    }
}

extension StorageNamespace {
    /// The app whose data it is; `nil` if it is that of no app, or shared. A suite that apps share is like an app's.
    package var app: String? {
        let app: String?
        switch domain {
        case "userDefaults": app = scope
        case "fileSystem", "encryptedFileSystem": app = StandardFolder.Location(scope: scope)?.app
        default: app = nil
        }
        return app.flatMap { AppIdentifier.isValid($0) ? $0 : nil }
    }
}

extension HostSettings {
    /// The namespaces of a domain that the configuration alone determines, with their domains.
    package func knownDomains(named name: String) -> [StorageNamespace: StorageDomain] {
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

    /// A domain that says that it is the data of no app, without that where nobody is an app.
    func shortest(_ domain: StorageDomain) -> StorageDomain {
        guard appID.isEmpty, ["userDefaults", "fileSystem", "encryptedFileSystem"].contains(domain.name),
            let place = try? place(of: domain)
        else { return domain }
        return knownDomains(named: domain.name)[place] ?? domain
    }

    /// A namespace with the folder that this configuration gives it; `nil` if no address leads to it.
    func addressable(_ place: StorageNamespace) -> StorageNamespace? {
        guard let domain = try? StorageDomain(address: "\(domain(of: place))"),
            let found = try? self.place(of: domain), found == place
        else { return nil }
        return found
    }

    /// The domain of a namespace that a store listed.
    func domain(of place: StorageNamespace) -> StorageDomain {
        if let own = knownDomains(named: place.domain)[place] { return own }
        let suffix = subDirectory.map { "/\($0)" } ?? ""
        let scope = place.scope.hasSuffix(suffix) ? String(place.scope.dropLast(suffix.count)) : place.scope
        let domain = try? StorageDomain(name: place.domain, filledIn: scope)
        // Not so for what was stored with another sub-directory than the one that is configured.
        guard let domain, (try? self.place(of: domain)) == place else {
            return .custom(name: place.domain, scope: place.scope)
        }
        return domain
    }
}
