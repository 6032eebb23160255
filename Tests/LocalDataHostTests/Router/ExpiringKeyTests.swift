import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import LocalDataHost

@Suite("Keys whose values expire") struct ExpiringKeyTests {
    private static let domains = MigrationHome.domains

    private static func key(
        _ domain: StorageDomain, lifetime: Duration?, _ name: String = "token"
    ) -> StorageKey<String> {
        let plain: StorageKey<String> = MigrationHome.key(name, domain)
        return StorageKey(
            name: plain.name, domain: domain, security: plain.security, owner: plain.owner,
            description: plain.description, lifetime: lifetime)
    }

    private func pass(_ time: Date) async throws {
        while Date.now <= time { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test("a value with a lifetime is there until it expires, and then absent for everyone", arguments: domains)
    func lifetime(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let key = Self.key(domain, lifetime: .milliseconds(400))
        let router = try home.router()
        try await router.set("secret", for: key)
        let expires = try #require(try await router.expiry(of: key))
        #expect(try await router.get(key) == "secret")
        let other = try home.router()
        #expect(try await other.get(key) == "secret")
        try await pass(expires)
        for router in [router, other, try home.router()] {
            await #expect(throws: StorageError.notFound) { try await router.get(key) }
            #expect(try await !router.exists(key))
            #expect(try await router.expiry(of: key) == nil)
            #expect(try await router.data(for: AnyStorageKey(key)) == nil)
            #expect(try await router.revisioned(key) == nil)
            var names: [String] = []
            try await router.forEachName(in: domain) { names.append($0) }
            #expect(names.isEmpty)
        }
        #expect(try await !router.remove(AnyStorageKey(key)))
        #expect(try await !router.remove(key))
        try await router.create("again", for: key)
        #expect(try await other.get(key) == "again")
    }

    @Test("a value that is set without a time never expires, even if it replaces one that does", arguments: domains)
    func replaced(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let key = Self.key(domain, lifetime: nil)
        let router = try home.router()
        let soon = Date.now + 0.2
        try await router.set("short", for: key, expires: soon)
        try await router.set("long", for: key)
        #expect(try await router.expiry(of: key) == nil)
        try await pass(soon)
        #expect(try await home.router().get(key) == "long")
    }

    @Test("an update keeps a value's time, and restarts a key's lifetime", arguments: domains)
    func updated(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let plain = Self.key(domain, lifetime: nil)
        try await router.set("a", for: plain, expires: Date.now + 3600)
        let expires = try await router.expiry(of: plain)
        try await router.update(plain) { $0 = ($0 ?? "") + "b" }
        #expect(try await router.expiry(of: plain) == expires)
        #expect(try await router.get(plain) == "ab")
        let limited = Self.key(domain, lifetime: .seconds(60))
        try await router.update(limited) { $0 = ($0 ?? "") + "c" }
        let next = try #require(try await router.expiry(of: limited))
        #expect(next < Date.now + 61 && next > Date.now + 30)
    }

    @Test("a value is read with its revision and the time at which it expires", arguments: domains)
    func readTogether(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let key = Self.key(domain, lifetime: nil)
        let expires = Date.now + 3600
        try await router.set("short", for: key, expires: expires)
        let found = try #require(try await router.revisioned(key))
        #expect(found.value == "short")
        #expect(abs(try #require(found.expires).timeIntervalSince(expires)) < 0.001)
        #expect(try await router.revisionedData(for: AnyStorageKey(key))?.expires == found.expires)
        try await router.set("long", for: key, ifRevision: found.revision)
        #expect(try await router.revisioned(key)?.expires == nil)
    }

    @Test("a value that is set may keep the time of the old one, even if the key has a lifetime", arguments: domains)
    func kept(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let (plain, limited) = (Self.key(domain, lifetime: nil), Self.key(domain, lifetime: .seconds(60)))
        try await router.set("first", for: plain, keepingExpiry: true)
        #expect(try await router.expiry(of: plain) == nil)
        try await router.set("second", for: limited, keepingExpiry: true)
        #expect(try await router.expiry(of: plain) == nil)
        try await router.set("third", for: plain, expires: Date.now + 3600)
        let expires = try #require(try await router.expiry(of: plain))
        try await router.set("fourth", for: limited, keepingExpiry: true)
        #expect(try await router.expiry(of: plain) == expires)
        #expect(try await router.get(plain) == "fourth")
        try await router.set("fifth", for: plain, keepingExpiry: false)
        #expect(try await router.expiry(of: plain) == nil)
        try await router.remove(limited)
        try await router.set("sixth", for: limited, keepingExpiry: true)
        #expect(try #require(try await router.expiry(of: limited)) < Date.now + 61)
        // The stored value need not be of the key's type.
        let number: StorageKey<Int> = MigrationHome.key(plain.name, domain)
        try await router.set("seventh", for: plain, expires: expires)
        try await router.set(8, for: number, keepingExpiry: true)
        #expect(try await router.expiry(of: number) == expires)
    }

    @Test("expiry times far away and in the past count as given", arguments: domains)
    func extremes(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let key = Self.key(domain, lifetime: nil)
        let router = try home.router()
        for far in [Date.distantFuture, Date.now + 1e9] {
            try await router.set("far", for: key, expires: far)
            #expect(try await router.get(key) == "far")
        }
        for past in [Date.distantPast, Date(timeIntervalSince1970: 0), Date.now - 1] {
            try await router.set("past", for: key, expires: past)
            await #expect(throws: StorageError.notFound) { try await router.get(key) }
        }
    }

    @Test("a value that a migration makes from expiring values expires with the first of them", arguments: domains)
    func migration(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let old = Self.key(.fileSystem(), lifetime: nil, "old")
        let expires = Date.now + 3600
        try await home.router().set("value", for: old, expires: expires)
        let key = Self.key(domain, lifetime: nil, "new")
        let router = try home.router()
        try await router.registerMigration(SimpleLegacyMigration(destinationKey: key, sourceKey: .key(old)))
        #expect(try await router.get(key) == "value")
        let carried = try #require(try await router.expiry(of: key))
        #expect(abs(carried.timeIntervalSince(expires)) < 0.001)
    }

    @Test("a large value that is moved in pieces keeps its time", arguments: domains)
    func largeMigration(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        func key(_ name: String, _ domain: StorageDomain) -> StorageKey<Data> {
            MigrationHome.key(name, domain, as: .data)
        }
        let (old, new) = (key("old", .fileSystem()), key("new", domain))
        let (value, expires) = (Data(repeating: 7, count: 3 << 20), Date.now + 3600)
        try await home.router().set(value, for: old, expires: expires)
        let router = try home.router()
        try await router.registerMigration(SimpleLegacyMigration(destinationKey: new, sourceKey: .key(old)))
        #expect(try await router.get(new) == value)
        let carried = try #require(try await router.expiry(of: new))
        #expect(abs(carried.timeIntervalSince(expires)) < 0.001)
    }

    @Test("expired values that nobody reads are removed when others are written", arguments: domains)
    func swept(domain: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        for number in 0..<20 {
            try await router.set("x", for: Self.key(domain, lifetime: nil, "past-\(number)"), expires: Date.now - 1)
        }
        #expect(try await router.stores.expiredNames(in: domain).count == 20)
        #expect(try await router.stores.removeExpired(in: domain) == 20)
        #expect(try await router.stores.removeExpired(in: domain) == 0)
        for number in 0..<20 {
            try await router.set("x", for: Self.key(domain, lifetime: nil, "past-\(number)"), expires: Date.now - 1)
        }
        let key = Self.key(domain, lifetime: .seconds(3600))
        for _ in 0..<130 { try await router.set("x", for: key) }
        #expect(try await router.stores.expiredNames(in: domain) == [])
        #expect(try await router.get(key) == "x")
    }
}
