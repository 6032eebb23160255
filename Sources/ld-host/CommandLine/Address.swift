internal import LocalDataAPI
internal import LocalDataHost

/// An address or a part of one, as a person types it.
enum Address {
    /// The key at `domain[:scope]/name`, as a catalog of the configuration describes it.
    static func key(_ text: String, _ router: StorageRouter) async throws -> AnyStorageKey {
        try check(text)
        return try await router.key(at: text)
    }

    /// The same for a command that neither shows nor replaces the value.
    static func unseenKey(_ text: String, _ router: StorageRouter) async throws -> AnyStorageKey {
        try check(text)
        return try await router.unseenKey(at: text)
    }

    private static func check(_ text: String) throws {
        do { _ = try StorageKeyDescriptor(address: text) } catch { throw UsageError(error.message, hint: error.hint) }
    }

    /// `domain[:scope]`, with an optional `/prefix`.
    static func domain(_ text: String) throws -> (domain: StorageDomain, prefix: String) {
        do {
            let parts = try StorageAddress.parts(of: text)
            return (try StorageDomain(name: parts.domain, scope: parts.scope), parts.name ?? "")
        } catch {
            throw UsageError(error.message, hint: error.hint)
        }
    }

    /// The selection of an operand `[DOMAIN[:SCOPE][/PREFIX]]`; without one, everything.
    static func selection(_ text: String?) throws -> StorageSelection {
        guard let text else { return .everything }
        do { return try StorageSelection(text) } catch { throw UsageError(error.message, hint: error.hint) }
    }

    /// The help for that operand.
    static let selectionHelp = """
        DOMAIN selects all its scopes, DOMAIN:SCOPE one of them, and /PREFIX the names that start with PREFIX. DOMAIN/
        alone selects the keys without a scope: userDefaults/ is what belongs to the app that --app names, or to no app
        without it. userDefaults:ID/ and fileSystem:ID/ are the app ID's.
        """

    /// The address of a name in a domain.
    static func text(_ domain: StorageDomain, _ name: String) -> String { "\(domain)/\(name)" }
}
