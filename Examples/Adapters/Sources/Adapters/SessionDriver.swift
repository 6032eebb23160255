import FoundationEssentials
import LocalDataAPI
import LocalDataHost

/// Hummingbird's sessions in a domain. Its store must offer conditional changes and expiry, as `file`, `sqlite` and
/// `memory` do.
struct SessionDriver: PersistDriver {
    let router: StorageRouter
    let domain: StorageDomain
    let security: SecurityPolicy

    init(
        router: StorageRouter = .shared, domain: StorageDomain = .userDefaults(suite: "sessions"),
        security: SecurityPolicy = .recommended
    ) {
        self.router = router
        self.domain = domain
        self.security = security
    }

    private func entry<Object>(_ name: String, _: Object.Type) -> StorageKey<Object> {
        StorageKey(
            name: name, domain: domain, security: security, owner: "Hummingbird",
            description: "A value that is kept between requests.")
    }

    func create<Object: Codable & Sendable>(key: String, value: Object, expires: Duration?) async throws {
        do {
            try await router.create(value, for: entry(key, Object.self), expires: expires.map(Self.date))
        } catch StorageError.conflict { throw PersistError.duplicate }
    }

    func set<Object: Codable & Sendable>(key: String, value: Object, expires: Duration?) async throws {
        let entry = entry(key, Object.self)
        if let expires {
            try await router.set(value, for: entry, expires: Self.date(after: expires))
        } else {
            try await router.set(value, for: entry, keepingExpiry: true)
        }
    }

    func get<Object: Codable & Sendable>(key: String, as: Object.Type) async throws -> Object? {
        do { return try await router.get(entry(key, Object.self)) } catch StorageError.notFound {
            return nil
        } catch StorageError.deserializationFailed { throw PersistError.invalidConversion }
    }

    func getWithTTL<Object: Codable & Sendable>(
        key: String, as: Object.Type
    ) async throws -> (object: Object, ttl: Duration?)? {
        do {
            guard let found = try await router.revisioned(entry(key, Object.self)) else { return nil }
            return (found.value, found.expires.map { .seconds(max(0, $0.timeIntervalSinceNow)) })
        } catch StorageError.deserializationFailed { throw PersistError.invalidConversion }
    }

    func remove(key: String) async throws { try await router.remove(entry(key, Data.self)) }

    private static func date(after duration: Duration) -> Date { Date(timeIntervalSinceNow: duration / .seconds(1)) }
}
