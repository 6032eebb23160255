import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostGround
@testable import LocalDataHost

@Suite("a store that is sealed with a key from the keychain", .timeLimit(.minutes(2))) struct KeychainSourceTests {
    private let key = textKey("k", .custom(name: "own"))
    private let sealing = "sealing: { source: \"keychain\" }"

    @Test("the key is created at the first use, in the keychain, which is sealed itself")
    func made() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try await home.vault(sealing).set("the value", for: key)
        #expect(try await home.vault(sealing).get(key) == "the value")
        #expect(!home.contains("the value"))
        let name = try #require(
            home.files("data/keychain").keys.first { $0.hasPrefix("keychain@") && $0.contains("vault") })
        #expect(name.contains("keychain@"))
        let named = "sealing: { source: \"keychain\", service: \"org.example\", account: \"disk\" }"
        let other = try SealedHome()
        defer { other.remove() }
        try await other.vault(named).set("x", for: key)
        #expect(try await other.vault(named).get(key) == "x")
        #expect(other.files("data/keychain").keys.contains { $0.hasSuffix("org.example/disk") })
    }

    @Test("without its key in the keychain, a store that has a ring is refused, and no key is made")
    func missing() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try await home.vault(sealing).set("x", for: key)
        let name = try #require(
            home.files("data/keychain").keys.first { $0.hasPrefix("keychain@") && $0.contains("vault") })
        let bytes = try #require(home.files("data/keychain")[name])
        let path = "\(home.folder)/data/keychain/\(name)"
        try FileManager.default.removeItem(atPath: path)
        let before = home.files("data")
        for call in [
            { [key] in _ = try await home.vault(sealing).get(key) },
            { [key] in try await home.vault(sealing).set("y", for: key) },
        ] as [() async throws -> Void] {
            let error = try await StorageError.of(call)
            #expect(error.code == .securityApplicationFailed && error.message.contains("is missing"))
            #expect(error.message.contains("'store vault' of the keychain service 'LocalData'"))
        }
        #expect(home.files("data") == before)
        try bytes.write(to: URL(filePath: path))
        #expect(try await home.vault(sealing).get(key) == "x")
    }

    @Test("a keychain is not sealed with a key that it keeps itself")
    func itself() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.vault(sealing, domains: "keychain: \"vault\"")
        let token = textKey("t", .keychain(service: "s"), security: .keychain(accessibility: .always))
        for call in [
            { [key] in try await router.set("x", for: key) }, { try await router.set("x", for: token) },
            { try await router.set("x", for: textKey("k", security: .recommended)) },
            { _ = try await router.keys.list(of: .store("vault")) },
        ] as [@Sendable () async throws -> Void] {
            let error = try await StorageError.of(call)
            #expect([.invalidConfiguration, .securityApplicationFailed].contains(error.code))
            #expect(error.message.contains("the key would be in what it locks"), "\(error)")
        }
        #expect(home.files("data").isEmpty)
    }

    @Test("a keychain that is mapped to another store does not have the key, and the error says so")
    func remapped() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        func router(_ keychain: String) throws -> StorageRouter {
            try home.router(
                domains: "own: \"vault\", keychain: \"\(keychain)\"",
                """
                stores: {
                  vault: { component: "file", options: { root: "${data}/vault" }, \(sealing) },
                  other: { component: "file", options: { root: "${data}/other" }, sealing: "keyFile" },
                }
                """)
        }
        let first = try router("sealed-files")
        try await first.set("x", for: key)
        let second = try router("other")
        for router in [first, second] {
            try await router.configure("domains.keychain", "other")
            let error = try await StorageError.of { try await router.get(key) }
            #expect(error.code == .securityApplicationFailed && error.message.contains("is missing"))
            await #expect(throws: StorageError.securityApplicationFailed) { try await router.set("y", for: key) }
        }
        try await first.configure("domains.keychain", "sealed-files")
        #expect(try await first.get(key) == "x")
    }

    @Test("two stores with the same entry of the keychain create it once")
    func oneEntry() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let sealing = "sealing: { source: \"keychain\", account: \"shared\" }"
        func router() throws -> StorageRouter {
            try home.router(
                domains: "own: \"a\", more: \"b\"",
                """
                stores: { a: { component: "file", options: { root: "${data}/a" }, \(sealing) },
                  b: { component: "file", options: { root: "${data}/b" }, \(sealing) } }
                """)
        }
        let keys = ["own", "more"].map { textKey("k of \($0)", .custom(name: $0)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for key in keys {
                group.addTask(executorPreference: IOExecutor.shared) { try await router().set("x", for: key) }
            }
            try await group.waitForAll()
        }
        for key in keys { #expect(try await router().get(key) == "x") }
    }
}
