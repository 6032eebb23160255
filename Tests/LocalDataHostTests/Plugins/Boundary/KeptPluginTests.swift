import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import HostPlugins
@testable import LocalDataHost

/// Tests a host of this minor version with binaries that were built for each earlier minor, and never rebuilt.
@Suite("plugins that were built for an earlier minor of the ABI", .waitsForPrograms) struct KeptPluginTests {
    /// A home with this machine's plugins of one minor next to it.
    private static func home(_ kept: KeptPlugins) throws -> SealedHome {
        let home = try SealedHome()
        try kept.install(in: home.folder)
        return home
    }

    private static func image(_ kind: String, _ home: SealedHome, _ kept: KeptPlugins) throws -> PluginImage {
        let image = try PluginImage.load("\(home.folder)/libKept\(kind).so")
        #expect(image.description.abi == kept.abi)
        return image
    }

    private static func key(_ name: String, _ scope: String? = nil) -> StorageKey<Data> {
        StorageKey(
            name: name, domain: .custom(name: "own", scope: scope), security: .none, serializer: .data,
            owner: "tests", description: "a key for tests")
    }

    @Test("a store keeps values by every ability of its minor", arguments: KeptPlugins.all)
    func store(_ kept: KeptPlugins) async throws {
        let home = try Self.home(kept)
        defer { home.remove() }
        let store = try Self.image("Store", home, kept).open("kept-store")
        #expect(store.abilityIDs.count == 14 && store.abilityIDs.contains("localdata.store.lock/1"))
        try store.with("n") { handle in
            let attributes = ValueAttributes(contentType: "text/plain", versionTag: "7")
            let first = try #require(try store.set(handle, to: Data([1]), attributes: attributes, if: .absent))
            #expect(try store.set(handle, to: Data([2]), attributes: nil, if: .absent) == nil)
            let tagged = try #require(try store.tagged(handle))
            #expect(tagged.value == Data([1]) && tagged.tag == "7")
            #expect(try store.attributes(of: handle)?.contentType == "text/plain")
            #expect(try store.remove(handle, ifRevision: first) && !store.exists(handle))
        }

        let router = try home.router(domains: "own: \"kept-store\"")
        for name in ["a", "b"] { try await router.set(Data(name.utf8), for: Self.key(name)) }
        #expect(try await router.get(Self.key("a")) == Data("a".utf8))
        #expect(try await router.names(in: .custom(name: "own"), prefix: "") == ["a", "b"])
        let revision = try #require(try await router.revision(of: Self.key("a")))
        try await router.remove(Self.key("a"))
        #expect(try await router.revision(of: Self.key("a")) != revision)
        await #expect(throws: StorageError.notFound) { try await router.get(Self.key("a")) }
    }

    @Test("a crypto provider seals what another opens, and signs what another verifies", arguments: KeptPlugins.all)
    func crypto(_ kept: KeptPlugins) async throws {
        let home = try Self.home(kept)
        defer { home.remove() }
        let sealing = "sealing: { source: \"keyFile\", cipher: \"ChaCha20-Poly1305\" }"
        let key = textKey("sealed", .custom(name: "own"))
        for (first, second) in [("kept-crypto", "openssl"), ("openssl", "kept-crypto")] {
            func router(_ provider: String) throws -> StorageRouter {
                try home.vault(sealing, more: "encryption: { provider: \"\(provider)\" }")
            }
            try await router(first).set("by \(first)", for: key)
            #expect(try await router(second).get(key) == "by \(first)")
        }
        #expect(!home.files("data").values.contains { $0.contains(Array("by ".utf8)) })

        let crypto = try Self.image("Crypto", home, kept).openCrypto(
            "kept-crypto", options: [:], folder: home.folder, log: SilentLog())
        #expect(crypto.offers(.ed25519) && crypto.offers(AuthenticatedCipher.chaCha20Poly1305))
        try crypto.checkKnownAnswers()
    }

    @Test("a sync transport carries, reports and forgets records", arguments: KeptPlugins.all)
    func sync(_ kept: KeptPlugins) throws {
        let home = try Self.home(kept)
        defer { home.remove() }
        let image = try Self.image("Sync", home, kept)
        let devices = try (0..<2).map { _ in
            try image.openTransport("kept-sync", options: [:], folder: home.folder, log: SilentLog())
        }
        let notices = Recorder<SyncNotice>()
        let subscription = try devices[1].subscribe { notices.add($0) }
        let records = (1...3).map { SyncRecord(writer: "one", name: "r\($0)", content: Data([UInt8($0)])) }
        try devices[0].publish(records)
        #expect(notices.all == [.changed])
        var fetched: [SyncRecord] = []
        let middle = try devices[1].fetch(since: nil, atMost: 2) {
            fetched.append($0)
            return true
        }
        let end = try devices[1].fetch(since: middle) {
            fetched.append($0)
            return true
        }
        #expect(fetched == records)
        try devices[0].remove(["r2"], of: "one")
        fetched = []
        _ = try devices[1].fetch(since: nil) {
            fetched.append($0)
            return true
        }
        #expect(fetched.map(\.name) == ["r1", "r3"] && end.count == 16)
        #expect(throws: StorageError.positionLost) { try devices[1].fetch(since: Data("lost".utf8)) { _ in true } }
        devices[1].unsubscribe(subscription)
        for device in devices { device.close() }
    }

    @Test("a migration pack moves, joins, removes and converts values", arguments: KeptPlugins.all)
    func pack(_ kept: KeptPlugins) async throws {
        let home = try Self.home(kept)
        defer { home.remove() }
        let router = try home.router(
            domains: "own: \"file\"", "migrations: { packs: { kept: { component: \"kept-pack\" } } }")
        for name in ["old", "gone"] { try await router.set(Data(name.utf8), for: Self.key(name)) }
        for name in ["n.1", "n.2", "other"] { try await router.set(Data(name.utf8), for: Self.key(name, "notes")) }
        for name in ["x", "y"] { try await router.set(Data("small \(name)".utf8), for: Self.key(name, "low")) }
        let report = try await router.migrate()
        #expect(report.failures.isEmpty, "\(report)")
        #expect(try await router.get(Self.key("new")) == Data("old".utf8))
        #expect(try await router.get(Self.key("notes")) == Data("n.1;n.2;".utf8))
        #expect(try await router.names(in: .custom(name: "own", scope: "notes"), prefix: "") == ["other"])
        for name in ["gone", "old"] { #expect(try await !router.exists(Self.key(name))) }
        #expect(try await router.get(Self.key("x", "high")) == Data("SMALL X".utf8))
        #expect(try await router.names(in: .custom(name: "own", scope: "low"), prefix: "").isEmpty)
        let record = try #require(try await router.migrationHistory(for: Self.key("notes")).first)
        #expect(record.pack?.component == "kept-pack" && record.pack?.version == "1.0.0")
    }

    @Test("plugins for another machine are refused as such", arguments: KeptPlugins.all)
    func otherMachine(_ kept: KeptPlugins) throws {
        let home = try SealedHome()
        defer { home.remove() }
        for machine in KeptPlugins.machines where machine != KeptPlugins.machine {
            for kind in KeptPlugins.kinds {
                let path = try home.fixture.write(
                    Data(contentsOf: URL(filePath: kept.file(kind, machine: machine))), to: "lib\(kind).so")
                let error = try #require(throws: StorageError.self) { try PluginImage.load(path) }
                #expect(error.code == .pluginRefused && error.message.contains("is a library for "), "\(error)")
            }
        }
    }

    @Test("exist for every minor up to this one")
    func complete() {
        #expect(KeptPlugins.all.first?.abi == "1.1")
        #expect(
            KeptPlugins.all.last?.abi == HostVersion.abi, "freeze a minor with: Tests/PluginFixtures/Kept/README.md")
    }
}
