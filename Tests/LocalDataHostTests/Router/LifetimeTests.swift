import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import Testing

@Suite("Lifetimes and times of expiry") struct LifetimeTests {
    // Not dates: Foundation cannot describe these, and a test's arguments are described.
    private static let noTimes = [Double.nan, .infinity, -.infinity]

    private static func key(_ lifetime: Duration? = nil) -> StorageKey<String> {
        StorageKey(
            name: "token", domain: .fileSystem(), security: .none, owner: "tests", description: "a key for tests",
            lifetime: lifetime)
    }

    @Test("what is no time is refused by every call that stores, and the old value stays", arguments: noTimes)
    func noTime(seconds: Double) async throws {
        let expires = Date(timeIntervalSince1970: seconds)
        let home = try MigrationHome()
        defer { home.remove() }
        let (router, key) = (try home.router(), Self.key())
        let any = AnyStorageKey.key(key)
        await #expect(throws: StorageError.unsupported) { try await router.create("new", for: key, expires: expires) }
        await #expect(throws: StorageError.unsupported) {
            try await router.createData(Data(), for: any, expires: expires)
        }
        try await router.set("old", for: key)
        let revision = try #require(try await router.revision(of: key))
        await #expect(throws: StorageError.unsupported) { try await router.set("new", for: key, expires: expires) }
        await #expect(throws: StorageError.unsupported) { try await router.setData(Data(), for: any, expires: expires) }
        await #expect(throws: StorageError.unsupported) {
            try await router.set("new", for: key, ifRevision: revision, expires: expires)
        }
        await #expect(throws: StorageError.unsupported) {
            try await router.setData(Data(), for: any, ifRevision: revision, expires: expires)
        }
        await #expect(throws: StorageError.unsupported) {
            try await router.batch { try $0.set("new", for: key, expires: expires) }
        }
        await #expect(throws: StorageError.unsupported) {
            try await router.batch { $0.setData(Data(), for: any, expires: expires) }
        }
        #expect(try await router.get(key) == "old")
    }

    @Test("a value can be given a lifetime by every call that takes a time")
    func given() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let (router, key) = (try home.router(), Self.key())
        func expectMinute() async throws {
            let expires = try #require(try await router.expiry(of: key))
            #expect(expires > .now && expires < .now + 61)
        }
        var revision = try await router.create("first", for: key, lifetime: .seconds(60))
        try await expectMinute()
        revision = try await router.set("second", for: key, ifRevision: revision, lifetime: .seconds(60))
        try await expectMinute()
        try await router.set("third", for: key)
        try await router.set("fourth", for: key, lifetime: .seconds(60))
        try await expectMinute()
        try await router.batch { try $0.set("fifth", for: key, lifetime: .seconds(60)) }
        try await expectMinute()
        #expect(try await router.get(key) == "fifth")
    }

    @Test("a lifetime that is over at once is refused", arguments: [Duration.zero, .seconds(-1)])
    func over(lifetime: Duration) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        await #expect(throws: StorageError.unsupported) {
            try await router.set("value", for: Self.key(), lifetime: lifetime)
        }
        let error = await #expect(throws: StorageError.self) { try await router.set("value", for: Self.key(lifetime)) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("'fileSystem:documents/token' has the lifetime") == true)
        #expect(try await !router.exists(Self.key()))
    }
}
