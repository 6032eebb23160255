import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostGround
@testable import LocalDataHost

@Suite("the first use of a key ring", .timeLimit(.minutes(2))) struct KeyRingFirstUseTests {
    @Test("sixteen tasks of one router make one key and sixteen values")
    func oneRouter() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<16 {
                group.addTask(executorPreference: IOExecutor.shared) {
                    try await router.set("\(number)", for: textKey("k\(number)", security: .recommended))
                }
            }
            try await group.waitForAll()
        }
        try await expectOneKey(home, values: 16)
    }

    @Test("sixteen routers at once make one key and sixteen values, in a store that is sealed too")
    func manyRouters() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<16 {
                group.addTask(executorPreference: IOExecutor.shared) {
                    let router = try home.router()
                    try await router.set("\(number)", for: textKey("k\(number)", security: .recommended))
                    try await router.set(
                        "\(number)",
                        for: textKey("k\(number)", .keychain(service: "s"), security: .keychain(accessibility: .always))
                    )
                }
            }
            try await group.waitForAll()
        }
        try await expectOneKey(home, values: 16)
        let router = try home.router()
        #expect(try await router.keys.list(of: .store("sealed-files"), counting: true).map(\.values) == [17])
        for number in 0..<16 {
            let key = textKey(
                "k\(number)", .keychain(service: "s"), security: .keychain(accessibility: .always))
            #expect(try await router.get(key) == "\(number)")
        }
    }

    private func expectOneKey(_ home: SealedHome, values: Int) async throws {
        let router = try home.router()
        let keys = try await router.keys.list(counting: true)
        #expect(keys.map(\.state) == ["active"] && keys.map(\.values) == [values])
        for number in 0..<values {
            #expect(try await router.get(textKey("k\(number)", security: .recommended)) == "\(number)")
        }
    }

    @Test("two configurations with different names for the keychain's store share its rings and their locks")
    func otherNames() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        func router(_ name: String) throws -> StorageRouter {
            try home.router(
                domains: "keychain: \"\(name)\"",
                """
                stores: { "\(name)": { component: "file", options: { root: "${data}/keys" },
                  sealing: { source: "keyFile", path: "\(home.folder)/shared.key" } } }
                """)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in ["first", "second"] {
                group.addTask(executorPreference: IOExecutor.shared) {
                    try await router(name).set(name, for: textKey(name, security: .recommended))
                }
            }
            try await group.waitForAll()
        }
        for reader in ["first", "second"] {
            let router = try router(reader)
            #expect(try await router.keys.list().count == 1)
            for name in ["first", "second"] {
                #expect(try await router.get(textKey(name, security: .recommended)) == name)
            }
        }
        #expect(home.files("state").keys.filter { $0.contains("ring-") && $0.hasSuffix(".lock") }.count == 2)
    }

    @Test("two stores with the same key file create it once")
    func oneKeyFile() async throws {
        for _ in 0..<5 {
            let home = try SealedHome()
            defer { home.remove() }
            let sealing = "sealing: { source: \"keyFile\", path: \"\(home.folder)/one.key\" }"
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

    @Test("a ring that has disappeared is not created again, and nothing is written")
    func vanished() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let key = textKey("k", security: .recommended)
        try await home.router().set("x", for: key)
        // The keychain's folder is lost; the values that it sealed are not.
        let keychain = "\(home.folder)/data/keychain"
        try FileManager.default.moveItem(atPath: keychain, toPath: "\(home.folder)/away")
        let values = home.files("data")
        let router = try home.router()
        for call in [
            { try await router.set("y", for: key) }, { _ = try await router.keys.create() },
            { _ = try await router.keys.rotate() },
        ] as [@Sendable () async throws -> Void] {
            let error = try await StorageError.of(call)
            #expect(
                error.code == .securityApplicationFailed && error.message.contains("is missing although it existed"))
            #expect(error.message.hasPrefix("the key ring 'LocalData/master'") && error.hint.contains("backup"))
        }
        let unreadable = try await StorageError.of { try await router.get(key) }
        #expect(unreadable.code == .cannotOpen && unreadable.message.contains("has no key"))
        #expect(home.files("data") == values)
        try FileManager.default.moveItem(atPath: "\(home.folder)/away", toPath: keychain)
        #expect(try await router.get(key) == "x")
        try await router.set("y", for: key)
        #expect(try await home.router().get(key) == "y")
    }

    @Test("a master ring that has disappeared from its keychain is not created again either")
    func vanishedMaster() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let key = textKey("k", security: .recommended)
        let kept = textKey("kept", .keychain(service: "s"), security: .keychain(accessibility: .always))
        let router = try home.router()
        try await router.set("x", for: key)
        try await router.set("x", for: kept)
        let ring = try home.valueFile("master")
        try FileManager.default.removeItem(atPath: ring)
        for router in [router, try home.router()] {
            let error = try await StorageError.of { try await router.keys.rotate() }
            #expect(
                error.message.contains("the key ring 'LocalData/master' is missing") && error.hint.contains(".lock"))
            #expect(try await router.get(kept) == "x")
        }
        #expect(!FileManager.default.fileExists(atPath: ring))
    }

    @Test("a store in memory begins with a separate ring in each router")
    func inMemory() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let key = textKey("k", .custom(name: "own"))
        for _ in 0..<3 {
            let router = StorageRouter(
                configuration: try home.fixture.configuration(
                    """
                    domains: { own: "vault" },
                    stores: { vault: { component: "memory", sealing: { source: "keyFile" } } }
                    """))
            #expect(try await !router.exists(key))
            try await router.set("x", for: key)
            #expect(try await router.get(key) == "x")
            #expect(try await router.keys.list(of: .store("vault")).count == 1)
        }
    }
}
