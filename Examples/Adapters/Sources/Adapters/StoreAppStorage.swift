import FoundationEssentials
import LocalDataAPI
import LocalDataHost

/// The values of `@AppStorage` properties in a domain, as JSON.
///
/// Both calls run on the calling thread, usually the main one. A read costs one read from the disk; storing waits until
/// the value is durable.
struct StoreAppStorage: AppStorageProvider {
    let router: StorageRouter
    let domain: StorageDomain

    init(router: StorageRouter = .shared, domain: StorageDomain = .userDefaults()) {
        self.router = router
        self.domain = domain
    }

    /// The value's bytes: SwiftCrossUI's values need not be `Sendable`, so they stay on the calling thread.
    private func entry(_ name: String) -> StorageKey<Data> {
        StorageKey(
            name: name, domain: domain, security: .none, serializer: .data, owner: "SwiftCrossUI",
            description: "The value of an @AppStorage property.")
    }

    func persistValue<Value: Codable>(_ value: Value, forKey key: String) throws {
        try router.setNow(JSONEncoder().encode(value), for: entry(key))
    }

    /// `nil` also if the store cannot be read: this call has no way to report that.
    func retrieveValue<Value: Codable>(ofType type: Value.Type, forKey key: String) -> Value? {
        guard let data = try? router.getNow(entry(key)) else { return nil }
        return try? JSONDecoder().decode(type, from: data)
    }

    /// Reports the names that any process sets, until the program ends. SwiftCrossUI's pull request 515 proposes to
    /// require this.
    func listenToChanges(_ action: @escaping @MainActor @Sendable (String) -> Void) {
        Task { [router, domain] in
            for try await changed in try await router.changes(in: domain) {
                for name in changed.names { await action(name) }
            }
        }
    }
}
