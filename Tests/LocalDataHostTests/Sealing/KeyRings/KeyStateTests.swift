import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostGround
@testable import HostSealing
@testable import HostStores
@testable import LocalDataHost

@Suite("an operator's changes of keys", .timeLimit(.minutes(2))) struct KeyStateTests {
    private let key = textKey("k", security: .recommended)

    private func sealing(_ key: StorageKey<String>, _ router: StorageRouter) async throws -> String {
        let pieces = Pieces()
        _ = try await router.readStoredPieces(for: .key(key)) {
            pieces.add($0)
            return true
        }
        return try pieces.data.withUnsafeBytes { "\(try EnvelopeHeader(parsing: $0).keyID)" }
    }

    @Test("there are no keys before the first value, and listing them creates none")
    func none() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        #expect(try await home.router().keys.list().isEmpty)
        #expect(try await home.router().keys.list(of: .store("sealed-files"), counting: true).isEmpty)
        await #expect(throws: StorageError.notFound) { try await home.router().keys.reseal() }
        #expect(home.files("data").isEmpty && home.files("config").isEmpty)
    }

    @Test("a created key seals nothing until a rotation makes it active; the first one of a ring is active at once")
    func create() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let first = try await router.keys.create()
        #expect(first.state == "active" && first.id.count == 32)
        let second = try await router.keys.create()
        #expect(second.state == "decrypt-only")
        try await router.set("x", for: key)
        #expect(try await sealing(key, router) == first.id)
        #expect(try await router.keys.rotate(to: second.id).state == "active")
        #expect(try await router.keys.list().map(\.state) == ["decrypt-only", "active"])
        #expect(try await router.get(key) == "x")
        try await router.set("y", for: key)
        #expect(try await sealing(key, router) == second.id)
        // A prefix of the id is enough.
        #expect(try await router.keys.rotate(to: String(first.id.prefix(8))).id == first.id)
        #expect(try await router.keys.rotate(to: first.id).state == "active")
        let now = Int64(Date().timeIntervalSince1970)
        #expect(try await router.keys.list().allSatisfy { abs($0.created - now) < 600 })
    }

    @Test("a router that knew the ring seals under the new key at once, and opens under it too")
    func rotationIsSeen() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let (first, second) = (try home.router(), try home.router())
        for round in 0..<5 {
            try await second.set("\(round)", for: key)
            let active = try await first.keys.rotate().id
            #expect(try await second.get(key) == "\(round)")
            try await second.set("\(round) again", for: key)
            #expect(try await sealing(key, second) == active)
            #expect(try await first.get(key) == "\(round) again")
        }
        #expect(try await first.keys.list().count == 6)
    }

    @Test("a disabled key neither seals nor opens, its values stay, and all processes notice when it is enabled")
    func disable() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("x", for: key)
        let old = try await sealing(key, router)
        try await router.keys.rotate()
        try await router.keys.disable(old)
        let stored = try Data(contentsOf: URL(filePath: home.valueFile("k")))
        let other = try home.router()
        for reader in [router, other] {
            let error = try await StorageError.of { try await reader.get(key) }
            #expect(error.code == .cannotOpen)
            #expect(error.message.contains("'userDefaults/k'") && error.message.contains("\(old) of the key ring"))
            #expect(error.message.contains("is disabled") && error.hint == "run: ld-host keys enable \(old)")
        }
        let refused = try await StorageError.of { try await router.keys.rotate(to: old) }
        #expect(refused.code == .busy && refused.message.contains("disabled"))
        // The value is reported, and stays.
        let report = try await router.keys.reseal()
        #expect(report.resealed == 0 && report.failures["userDefaults/k"]?.contains("disabled") == true)
        #expect(try Data(contentsOf: URL(filePath: home.valueFile("k"))) == stored)

        try await router.keys.enable(old)
        try await router.keys.enable(old)
        for reader in [router, other] { #expect(try await reader.get(key) == "x") }
        #expect(try await router.keys.list().map(\.state) == ["decrypt-only", "active"])
    }

    @Test("the active key cannot be removed, and an absent key is named")
    func refusals() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let active = try await router.keys.create().id
        for call in [
            { try await router.keys.disable(active) }, { try await router.keys.retire(active) },
        ] as [@Sendable () async throws -> Void] {
            let error = try await StorageError.of(call)
            #expect(error.code == .busy && error.message.contains(active) && error.hint.contains("keys rotate"))
        }
        try await router.keys.enable(active)
        #expect(try await router.keys.list().map(\.state) == ["active"])
        for id in ["", "123", "zzzz", String(repeating: "f", count: 32), String(repeating: "f", count: 33), "é"] {
            for call in [
                { try await router.keys.disable(id) }, { try await router.keys.enable(id) },
                { try await router.keys.retire(id) }, { _ = try await router.keys.rotate(to: id) },
            ] as [@Sendable () async throws -> Void] {
                let error = try await StorageError.of(call)
                #expect(error.code == .notFound && error.message.contains("the key ring 'LocalData/master' has no key"))
            }
        }
    }

    @Test("each store has separate keys, and a store without keys reports that")
    func storeKeys() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        let token = textKey("t", .keychain(service: "s"), security: .keychain(accessibility: .always))
        try await router.set("x", for: token)
        let name = KeyRingName.store("sealed-files")
        let old = try await router.keys.list(of: name)
        let active = try await router.keys.rotate(of: name)
        #expect(try await router.keys.list(of: name).map(\.id) == [old[0].id, active.id])
        #expect(try await router.keys.list().isEmpty)
        #expect(try await router.get(token) == "x")
        let missing = try await StorageError.of { try await router.keys.list(of: .store("nowhere")) }
        #expect(missing.code == .invalidConfiguration && missing.message.contains("'nowhere'"))
        #expect(missing.hint.contains("sealed-files"))
        let plain = try await StorageError.of { try await router.keys.rotate(of: .store("file")) }
        #expect(plain.code == .invalidConfiguration && plain.message.contains("not sealed"))
    }

    @Test("a ring without an active key seals nothing, until a rotation makes one active")
    func noActiveKey() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("x", for: key)
        let snapshot = try await router.snapshot()
        try await onIOThread { () throws(StorageError) in
            try snapshot.rings.ring(named: nil).change { (state) throws(StorageError) in
                state.set(.decryptOnly, of: state.entries[0].id)
            }
        }
        let other = textKey("k", .fileSystem(), security: .recommended)
        for router in [router, try home.router()] {
            let error = try await StorageError.of { try await router.set("y", for: other) }
            #expect(error.code == .securityApplicationFailed && error.hint == "run: ld-host keys rotate")
            #expect(try await router.get(key) == "x")
        }
        try await router.keys.rotate()
        try await router.set("y", for: other)
        #expect(try await router.get(other) == "y")
    }
}
