internal import HostGround
internal import HostPlugins
public import HostStores
public import LocalDataAPI

/// Listing what stores hold.
extension StorageRouter {
    /// The names stored in a domain, ascending by their UTF-8 bytes, in pages.
    ///
    /// - Parameters:
    ///   - domain: The domain.
    ///   - prefix: Only names that start with it.
    ///   - after: Only names after this one.
    ///   - limit: The most names; `nil` for all.
    /// - Throws: `unsupported` if the store cannot list.
    public func names(
        in domain: StorageDomain, prefix: String = "", after: String? = nil, limit: Int? = nil
    ) async throws -> [String] {
        try await listing { try await $0.names(in: domain, prefix: prefix, after: after, limit: limit) }
    }

    /// The names stored in a domain that start with a prefix, ascending by their UTF-8 bytes.
    ///
    /// - Throws: `unsupported` if the store cannot list.
    public func names(in domain: StorageDomain, prefix: String) async throws -> [String] {
        try await names(in: domain, prefix: prefix, after: nil, limit: nil)
    }

    /// Passes the same names one by one, holding one page of them in memory.
    ///
    /// - Throws: `unsupported` if the store cannot list; what `body` throws.
    public func forEachName(
        in domain: StorageDomain, prefix: String = "", _ body: (String) async throws -> Void
    ) async throws {
        try await StoreAccess.forEach({ try await names(in: domain, prefix: prefix, after: $0, limit: $1) }, body)
    }

    /// Passes the names of a scope that a selection includes; see ``scopes(of:)``.
    ///
    /// - Throws: `unsupported` if the store cannot list; what `body` throws.
    public func forEachName(in scope: SelectedScope, _ body: (String) async throws -> Void) async throws {
        try await StoreAccess.forEach(
            { (after, limit) in try await listing { try await $0.names(in: scope, after: after, limit: limit) } }, body)
    }

    /// Makes a list again if a switch may have removed something from the store that it left.
    private func listing<Found>(_ list: (StoreAccess) async throws -> Found) async throws -> Found {
        while true {
            let before = currentState
            let found = try await list(try await access())
            if before == currentState { return found }
        }
    }

    /// The promises of the store that serves a domain.
    package func properties(of domain: StorageDomain) async throws -> StoreProperties {
        try await access().openStore(for: domain.name).store.properties
    }

    /// The domains, with their scopes, that hold values: those that their stores list, and those in folders that the
    /// configuration, an app group or a catalog determines.
    ///
    /// - Returns: The domains ordered by address, and the errors of stores that could not list.
    public func populatedDomains() async throws -> PopulatedDomains {
        let (domains, failures) = try await listing { try await $0.populatedDomains() }
        return PopulatedDomains(domains: domains, failures: failures)
    }

    /// The scopes of one domain that hold values.
    ///
    /// - Throws: `invalidConfiguration` if no store serves the domain; `unsupported` if its store cannot list; and what
    ///   the store reports.
    public func populatedDomains(named name: String) async throws -> [StorageDomain] {
        try await listing { try await $0.populatedPlaces(of: name).map(\.domain) }
    }

    /// The identifiers of the apps that have values here, ordered by their bytes: the suites of `userDefaults`, of
    /// which apps may share some by name, and the apps whose files are stored.
    ///
    /// - Returns: The identifiers, and the errors of stores that could not list.
    public func apps() async throws -> (apps: [String], failures: [StorageError]) {
        try await listing { try await $0.apps() }
    }

    /// The apps, other than the own one, that have a value of this name where the key would be as theirs.
    package func apps(having key: AnyStorageKey) async -> [String] {
        (try? await access().apps(having: key)) ?? []
    }

    /// The scopes of a domain that hold values, ordered by their bytes; empty if the store cannot list them.
    package func populatedScopes(of domain: String) async throws -> [String] {
        try await listing { try await $0.populatedScopes(of: domain) }
    }

    /// The scopes of a selection that hold values.
    ///
    /// The user's own folders, which stores do not list, are selected by address, or by a catalog that names them. In
    /// a folder for plain files, which other programs use too, only the catalog's names are listed then.
    ///
    /// - Returns: The scopes ordered by address, and the errors of stores that could not list.
    /// - Throws: Why a selected domain cannot be listed.
    public func scopes(
        of selection: StorageSelection
    ) async throws -> (scopes: [SelectedScope], failures: [StorageError]) {
        try await listing { try await $0.scopes(of: selection) }
    }

    /// The values of one domain or of all that are in stores that do not serve it, counted.
    package func leftValues(ofDomain domain: String? = nil) async throws(StorageError) -> [LeftValues] {
        try await access().leftValues(ofDomain: domain)
    }

    /// The values that a sealed store cannot open because they are not sealed; `nil` if there are none. A store that
    /// has sealed values, and seals no more, is opened, which logs a warning.
    package func unsealedValues(in store: String) async throws -> UnsealedValues? {
        let snapshot = try await snapshot()
        return try await onIOThread { () throws(StorageError) in
            guard let slot = snapshot.slot(ofStore: store) else { return nil }
            if slot.settings.sealing == nil { _ = try slot.openIfNeeded() }
            return snapshot.unsealedValues(in: slot)
        }
    }

    /// The error for a missing value. If another store has it, the error names that store.
    package func notStored(_ key: AnyStorageKey) async -> StorageError {
        do throws(StorageError) { return try await access().notStored(key) } catch { return error }
    }
}
