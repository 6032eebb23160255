import FoundationEssentials
import LocalDataAPI
import LocalDataHost

/// OAuthKit's tokens in the keychain domain, encrypted, in the store that the configuration names for it. The account
/// is the domain's service.
///
/// OAuthKit's calls are synchronous, and a keychain may ask a person. So each call waits on its thread: do not make it
/// from a task of `IOExecutor`.
struct KeychainStorage: Keychain.Storage {
    let account: String
    private let router: StorageRouter

    init(account: String) { self.init(account: account, router: .shared) }

    init(account: String, router: StorageRouter) {
        self.account = account
        self.router = router
    }

    private var domain: StorageDomain { .keychain(service: account) }

    private func entry(_ name: String) -> StorageKey<Data> {
        StorageKey(
            name: name, domain: domain, security: .keychain(accessibility: .afterFirstUnlock), serializer: .data,
            owner: "OAuthKit", description: "An OAuth token.")
    }

    /// Empty also if the store cannot be read: this call has no way to report that.
    var keys: [String] {
        (try? IOExecutor.blocking { [router, domain] in try await router.names(in: domain) }) ?? []
    }

    func set(_ data: Data, for key: String) throws -> Bool {
        let entry = entry(accountKey(key))
        try IOExecutor.blocking { [router] in try await router.set(data, for: entry) }
        return true
    }

    func get(key: String) throws -> Data? {
        let entry = entry(accountKey(key))
        do { return try IOExecutor.blocking { [router] in try await router.get(entry) } } catch StorageError.notFound {
            return nil
        }
    }

    /// False if the entry was absent, or could not be removed.
    func delete(key: String) -> Bool {
        let entry = entry(key)
        return (try? IOExecutor.blocking { [router] in try await router.remove(entry) }) ?? false
    }

    /// Removes all entries or none.
    func clear() -> Bool {
        let removed: Void? = try? IOExecutor.blocking { [self] in
            let entries = try await router.names(in: domain).map(entry)
            try await router.batch { changes in for entry in entries { changes.remove(entry) } }
        }
        return removed != nil
    }
}
