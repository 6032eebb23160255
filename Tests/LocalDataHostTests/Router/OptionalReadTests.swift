import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import Testing

@Suite("Reading what may be absent") struct OptionalReadTests {
    private static let domains: [StorageDomain] = [.userDefaults(), .fileSystem(), .encryptedFileSystem()]

    private static func key(_ domain: StorageDomain) -> StorageKey<String> {
        textKey("theme", domain, security: domain == .encryptedFileSystem() ? .recommended : .none)
    }

    @Test("gives nil, or the caller's default, for no value, and the value once there is one", arguments: domains)
    func absent(domain: StorageDomain) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let (router, key) = (try home.router(), Self.key(domain))
        for _ in 0..<2 {
            #expect(try await router.value(of: key) == nil)
            #expect(try await router.get(key, default: "light") == "light")
        }
        #expect(try await !router.exists(key))
        try await router.set("dark", for: key)
        #expect(try await router.value(of: key) == "dark")
        #expect(try await router.get(key, default: "light") == "dark")
        try await router.remove(key)
        try await router.registerDefault("blue", for: key)
        #expect(try await router.value(of: key) == "blue")
        #expect(try await router.get(key, default: "light") == "blue")
        #expect(try await (router as any StorageProviding).get(key, default: "light") == "blue")
    }

    @Test("throws for a value that cannot be read, and takes no default for it", arguments: domains)
    func unreadable(domain: StorageDomain) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let (router, key) = (try home.router(), Self.key(domain))
        try await router.setData(Data("no JSON".utf8), for: .key(key))
        for _ in 0..<2 {
            await #expect(throws: StorageError.deserializationFailed) { try await router.value(of: key) }
            await #expect(throws: StorageError.deserializationFailed) { try await router.get(key, default: "light") }
        }
    }

    @Test("names the value's type with its article in errors")
    func article() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("text", for: textKey("n"))
        let number = StorageKey<Int>(
            name: "n", domain: .userDefaults(), security: .none, owner: "tests", description: "a number")
        let error = await #expect(throws: StorageError.self) { try await router.get(number) }
        #expect(error?.message.contains("are not an Int in json") == true)
    }

    @Test("an error of another kind becomes unknown, and one of a store stays")
    func unknown() {
        struct Other: Error {}
        #expect(StorageError.unknown(Other()).code == .unknown)
        #expect(StorageError.unknown(StorageError(.noSpace)).code == .noSpace)
    }
}
