import FoundationEssentials
import LocalDataAPI
import Testing

@testable import LocalDataHost

@Suite("watching", .timeLimit(.minutes(2))) struct WatchTests {
    /// Stores that report changes; the second one lives in one process.
    static let stores = ["file", "memory"]

    private func router(_ home: SealedHome, _ store: String) throws -> StorageRouter {
        try home.router(domains: "own: \"\(store)\"", "encryption: { service: \"tests\" }")
    }

    @Test("a key's values are reported as they change, including those that others store", arguments: stores)
    func values(_ store: String) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try router(home, store)
        let others = store == "memory" ? router : try self.router(home, store)
        let key = textKey("k", .custom(name: "own"))
        let changes = try await router.changes(of: key)
        var iterator = changes.makeAsyncIterator()
        try await others.set("a", for: key)
        #expect(try await iterator.next() == .some("a"))
        // If several changes come between two reads, only the last one counts.
        for value in ["b", "c", "d"] { try await router.set(value, for: key) }
        while try await iterator.next() != .some("d") {}
        // A name that begins with the key's name is another key.
        try await others.set("x", for: textKey("k2", .custom(name: "own")))
        try await others.remove(key)
        while let value = try await iterator.next(), value != nil { #expect(value == "d") }
        #expect(try await !router.exists(key))
    }

    @Test("sealed values are opened before they are reported")
    func sealed() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let key = textKey("k", .encryptedFileSystem(), security: .recommended)
        var iterator = try await router.changes(of: key).makeAsyncIterator()
        try await home.router().set("secret", for: key)
        #expect(try await iterator.next() == .some("secret"))
    }

    @Test("names with a prefix are reported, of values but not of the host's keys", arguments: stores)
    func names(_ store: String) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try router(home, store)
        var iterator = try await router.changes(in: .custom(name: "own"), prefix: "p/").makeAsyncIterator()
        var told: Set<String> = []
        try await router.set("x", for: textKey("q", .custom(name: "own")))
        let names = ["p/1", "p/\u{e9}", "p/e\u{301}", "p/A B", "p/" + String(repeating: "long", count: 100)]
        for name in names { try await router.set("x", for: textKey(name, .custom(name: "own"))) }
        while told.count < names.count {
            let changed = try #require(try await iterator.next())
            told.formUnion(changed.names.map { Data($0.utf8).base64EncodedString() })
        }
        #expect(told == Set(names.map { Data($0.utf8).base64EncodedString() }))

        // The service has the app's own values, too.
        var keychain = try await router.changes(in: .keychain(service: "tests")).makeAsyncIterator()
        try await router.set("x", for: textKey("k", .fileSystem(), security: .recommended))
        try await router.set(
            "x", for: textKey("own", .keychain(service: "tests"), security: .keychain(accessibility: .always)))
        // A change that may affect any name, such as creating the folder, is reported without names.
        var changed = try #require(try await keychain.next())
        while changed.names.isEmpty, changed.mayBeMore { changed = try #require(try await keychain.next()) }
        #expect(changed.names == ["own"], "\(changed)")
    }

    @Test("a store without an ability to report changes is polled")
    func polled() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        _ = try await home.fixture.build("FIXTURE_SHARED")
        let router = try router(home, "fixture")
        let key = textKey("k", .custom(name: "own"))
        try await router.set("before", for: key)
        var iterator = try await router.changes(of: key).makeAsyncIterator()
        try await router.set("a", for: key)
        #expect(try await iterator.next() == .some("a"))
        try await router.remove(key)
        #expect(try await iterator.next() == .some(nil))
    }

    @Test("a watch ends with its task, and the store remains usable", arguments: stores)
    func ends(_ store: String) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try router(home, store)
        let key = textKey("k", .custom(name: "own"))
        for round in 0..<20 {
            let changes = try await router.changes(of: key)
            let task = Task {
                var last: String??
                for try await value in changes { last = value }
                return last
            }
            try await router.set("\(round)", for: key)
            task.cancel()
            _ = try await task.value
        }
        #expect(try await router.get(key) == "19")
    }

    @Test("a key that may not be used is not watched")
    func refused() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router(domains: "own: \"file\"", "device: { role: \"watch\" }")
        await #expect(throws: StorageError.phoneOnlyKeyAccessedOnWatch) {
            _ = try await router.changes(of: textKey("k", .custom(name: "own"), availability: .phoneOnly))
        }
        await #expect(throws: StorageError.invalidConfiguration) {
            _ = try await router.changes(in: .custom(name: "unmapped"))
        }
    }
}
