public import LocalDataAPI

/// What stores hold.
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
        try await access().names(in: domain, prefix: prefix, after: after, limit: limit)
    }

    /// Hands out the same names one after the other, with memory for one page of them.
    ///
    /// - Throws: `unsupported` if the store cannot list; what `body` throws.
    public func forEachName(
        in domain: StorageDomain, prefix: String = "", _ body: (String) async throws -> Void
    ) async throws {
        try await access().forEachName(in: domain, prefix: prefix, body)
    }

    /// What the store that serves a domain promises.
    public func properties(of domain: StorageDomain) async throws -> StoreProperties {
        try await access().openStore(for: domain.name).store.properties
    }

    /// The domains, with their scopes, that hold values: those that their stores know of, and of folders of the host's
    /// choosing those that the configuration names.
    ///
    /// - Returns: The domains in order of their addresses, and the errors of stores that could not be asked.
    public func populatedDomains() async throws -> PopulatedDomains {
        let (domains, failures) = try await access().populatedDomains()
        return PopulatedDomains(domains: domains, failures: failures)
    }

    /// The same of one domain, in all its scopes.
    ///
    /// - Throws: `invalidConfiguration` if no store serves the domain; `unsupported` if its store cannot list; and what
    ///   the store reports.
    public func populatedDomains(named name: String) async throws -> [StorageDomain] {
        try await access().populatedDomains(named: name)
    }

    /// The scopes of a domain that hold values, in order of their bytes; none if the store cannot list them.
    package func populatedScopes(of domain: String) async throws -> [String] {
        try await access().populatedScopes(of: domain)
    }

    /// The scopes of a selection that hold values, with the prefix of the names that are selected there.
    ///
    /// Folders of the user's own choosing, which stores do not list, are selected by their addresses alone.
    ///
    /// - Returns: The scopes in order of their addresses, and the errors of stores that could not be asked.
    /// - Throws: What keeps a selected domain from being listed.
    public func scopes(
        of selection: StorageSelection
    ) async throws -> (scopes: [(domain: StorageDomain, prefix: String)], failures: [StorageError]) {
        try await access().scopes(of: selection)
    }

    /// What is left in stores that do not serve it, of one domain or of all, counted.
    package func leftValues(ofDomain domain: String? = nil) async throws(StorageError) -> [LeftValues] {
        try await access().leftValues(ofDomain: domain)
    }

    /// The error for a value that is not stored where it is looked for. If another store has it, it says which one.
    package func notStored(_ key: AnyStorageKey) async -> StorageError {
        do throws(StorageError) { return try await access().notStored(key) } catch { return error }
    }
}

/// The domains, with their scopes, that hold values.
public struct PopulatedDomains: Sendable {
    /// In the order of their addresses.
    public let domains: [StorageDomain]
    /// Why some stores could not be asked.
    public let failures: [StorageError]
}
