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
        if let expires { return try await router.set(value, for: entry, expires: Self.date(after: expires)) }
        // The stored value's expiry is kept. It belongs to the revision that was read before it, if that revision is
        // still stored when the value is replaced.
        while true {
            do {
                if let revision = try await router.revision(of: entry) {
                    let date = try await router.expiry(of: entry)
                    try await router.set(value, for: entry, ifRevision: revision, expires: date)
                } else {
                    try await router.create(value, for: entry)
                }
                return
            } catch StorageError.conflict { try Task.checkCancellation() }
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
        let entry = entry(key, Object.self)
        do {
            while let found = try await router.revisioned(entry) {
                let date = try await router.expiry(of: entry)
                // Another write between the two may have set another time.
                guard try await router.revision(of: entry) == found.revision else { continue }
                return (found.value, date.map { .seconds(max(0, $0.timeIntervalSinceNow)) })
            }
            return nil
        } catch StorageError.deserializationFailed { throw PersistError.invalidConversion }
    }

    func remove(key: String) async throws { try await router.remove(entry(key, Data.self)) }

    private static func date(after duration: Duration) -> Date { Date(timeIntervalSinceNow: duration / .seconds(1)) }
}
