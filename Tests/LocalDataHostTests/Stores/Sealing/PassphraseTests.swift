import FoundationEssentials
import Glibc
import LocalDataAPI
import Testing

@testable import HostGround
@testable import LocalDataHost

@Suite("a store that is sealed with a passphrase", .timeLimit(.minutes(3))) struct PassphraseTests {
    private let key = textKey("k", .custom(name: "own"))

    /// A router that reads `secret` from a separate descriptor.
    private func withRouter<Result>(
        _ home: SealedHome, _ secret: Data, _ more: String = "iterations: 10",
        _ body: (StorageRouter) async throws -> Result
    ) async throws -> Result {
        let path = "\(home.folder)/secret-\(UInt64.random(in: 0 ... .max))"
        try secret.write(to: URL(filePath: path))
        defer { unlink(path) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        return try await body(
            try home.vault("sealing: { source: \"passphrase\", from: \"fd:\(descriptor)\", \(more) }"))
    }

    static let derivations = [
        "iterations: 10", "derivation: \"HKDF-SHA256\"", "derivation: \"PBKDF2-HMAC-SHA256\", iterations: 1",
    ]

    @Test("a later descriptor must give exactly the same passphrase", arguments: derivations)
    func roundTrip(_ derivation: String) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let secret = Data("correct horse".utf8)
        try await withRouter(home, secret, derivation) { try await $0.set("the value", for: key) }
        // With and without the line end that a shell appends.
        for given in [secret, secret + Data("\n".utf8)] {
            let value = try await withRouter(home, given, derivation) { try await $0.get(key) }
            #expect(value == "the value")
        }
        #expect(!home.contains("the value") && !home.contains("correct horse"))
    }

    @Test("a wrong passphrase is reported before anything is touched")
    func wrong() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try await withRouter(home, Data("right".utf8)) { try await $0.set("x", for: key) }
        let before = home.files()
        let other = textKey("k", .custom(name: "own", scope: "elsewhere"))
        for given in ["wrong", "righ", "right ", "right\n\n", "Right", "\nright"] {
            try await withRouter(home, Data(given.utf8)) { router in
                for call in [
                    { [key] in _ = try await router.get(key) }, { [key] in try await router.set("y", for: key) },
                    { try await router.set("y", for: other) },
                    { _ = try await router.keys.rotate(of: .store("vault")) },
                    { _ = try await router.keys.reseal(.store("vault")) },
                ] as [@Sendable () async throws -> Void] {
                    let error = try await StorageError.of(call)
                    #expect(error.code == .cannotOpen && error.hint.contains("right key or passphrase"), "\(error)")
                    #expect(error.message.contains("a passphrase from descriptor"))
                    #expect(!"\(error)".contains(given.trimmingPrefix("\n") + "'"))
                }
            }
        }
        #expect(
            home.files("data")
                == before.filter { $0.key.hasPrefix("data/") }.reduce(into: [:]) {
                    $0[String($1.key.dropFirst(5))] = $1.value
                })
        let value = try await withRouter(home, Data("right".utf8)) { try await $0.get(key) }
        #expect(value == "x")
    }

    @Test("empty input, or an empty line, is not a passphrase", arguments: ["", "\n"])
    func empty(_ given: String) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try await withRouter(home, Data(given.utf8)) { router in
            for _ in 0..<2 {
                let error = try await StorageError.of { try await router.set("x", for: key) }
                #expect(error.code == .securityApplicationFailed && error.message.contains("which is empty"))
                #expect(error.message.contains("'vault'"))
            }
        }
        #expect(home.files("data").isEmpty)
    }

    @Test("64 KiB of any bytes are a passphrase; more are refused, and not truncated")
    func long() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        var secret = Data((0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        secret[65_535] = 0
        try await withRouter(home, secret) { try await $0.set("x", for: key) }
        let value = try await withRouter(home, secret) { try await $0.get(key) }
        #expect(value == "x")
        try await withRouter(home, secret + [1]) { router in
            let error = try await StorageError.of { try await router.get(key) }
            #expect(error.code == .valueTooLarge && error.message.contains("65536 bytes"))
        }
        secret[65_535] = 1
        try await withRouter(home, secret) { router in
            _ = await #expect(throws: StorageError.cannotOpen) { try await router.get(key) }
        }
    }

    @Test("a descriptor that is not open is named, and a pipe is read to its end")
    func descriptors() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.vault("sealing: { source: \"passphrase\", from: \"fd:987654\" }")
        let error = try await StorageError.of { try await router.set("x", for: key) }
        #expect(error.code == .securityApplicationFailed && error.message.contains("descriptor 987654"))
        #expect(error.hint.contains("987654<FILE"))

        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let piped = try home.vault("sealing: { source: \"passphrase\", from: \"fd:\(ends[0])\", iterations: 10 }")
        async let stored: Void = piped.set("x", for: key)
        for byte in "pass\n".utf8 {
            try #require(write(ends[1], [byte], 1) == 1)
            await Task.yield()
        }
        close(ends[1])
        try await stored
        close(ends[0])
        let value = try await withRouter(home, Data("pass".utf8)) { try await $0.get(key) }
        #expect(value == "x")
    }

    @Test("one of many concurrent readers reads the descriptor, and all get their values")
    func manyReaders() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let keys = (0..<16).map { textKey("k\($0)", .custom(name: "own")) }
        try await withRouter(home, Data("pass".utf8)) { router in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for key in keys {
                    group.addTask(executorPreference: IOExecutor.shared) { try await router.set(key.name, for: key) }
                }
                try await group.waitForAll()
            }
        }
        try await withRouter(home, Data("pass".utf8)) { router in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for key in keys {
                    group.addTask(executorPreference: IOExecutor.shared) {
                        let value = try await router.get(key)
                        #expect(value == key.name)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("a change of configuration that reopens the store does not ask for the passphrase again")
    func reconfigured() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try await withRouter(home, Data("pass".utf8)) { router in
            try await router.set("x", for: key)
            await router.updateEncryptionConfiguration(EncryptionConfiguration(masterKeyLength: 64))
            #expect(try await router.get(key) == "x")
            try await router.configure("stores.vault.sealing.cipher", "AES-256-GCM")
            #expect(try await router.get(key) == "x")
            try await router.set("y", for: key)
            try await router.keys.rotate(of: .store("vault"))
            #expect(try await router.get(key) == "y")
        }
    }

    @Test("without a terminal the passphrase cannot be asked for")
    func noTerminal() async throws {
        // This process may have a terminal; a child in a new session has none.
        let home = try SealedHome()
        defer { home.remove() }
        _ = try home.fixture.write(
            Data("{ \(SealedHome.vaultText("sealing: \"passphrase\"")) }".utf8), to: "own.jsonc")
        let end = try await withTaskExecutorPreference(WaitingThreads.shared) {
            try ChildProcess(
                "/usr/bin/setsid",
                arguments: [
                    "-w", FixtureBuilder.host, "--config", "\(home.folder)/own.jsonc", "set", "own/k", "x",
                ],
                environment: ["HOME": home.folder, "PATH": "/usr/bin:/bin"]
            ).run(deadline: .seconds(60))
        }
        #expect(end.outcome != .exited(code: 0))
        #expect(end.errorText.contains("store 'vault' is sealed by a passphrase, and there is no terminal"))
    }
}
