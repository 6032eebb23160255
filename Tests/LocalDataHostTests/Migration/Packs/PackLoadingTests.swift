import FoundationEssentials
import LocalDataAPI
import Testing

@testable import LocalDataHost

@Suite("packs that are loaded, missing, damaged or changed", .waitsForPrograms) struct PackLoadingTests {
    private static let packs = "migrations: { packs: { ours: { component: \"c-pack\" } } }"

    private static func key(_ name: String) -> StorageKey<Data> {
        StorageKey(
            name: name, domain: .custom(name: "own"), security: .none, serializer: .data, owner: "tests",
            description: "a key for tests")
    }

    /// A router that also looks for plugins in the home's folder.
    private static func router(_ home: SealedHome, _ text: String = packs) throws -> StorageRouter {
        try home.router(domains: "own: \"file\"", text)
    }

    @Test(
        "a pack in C, of this minor or a later one, migrates, removes, and runs after its dependencies",
        arguments: [[], ["PACK_NEWER"]])
    func migrates(_ variant: [String]) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        _ = try PackTableTests.build(home.fixture, variant)
        let router = try Self.router(home)
        for name in ["old", "left", "gone"] { try await router.set(Data(name.utf8), for: Self.key(name)) }
        #expect(try await router.get(Self.key("right")) == Data("left".utf8))
        // Its dependency has run before.
        #expect(try await router.exists(Self.key("new")))
        #expect(try await !router.exists(Self.key("old")))
        try await router.forceMigration(for: Self.key("gone"))
        #expect(try await !router.exists(Self.key("gone")))
        let record = try #require(try await router.migrationHistory(for: Self.key("right")).first)
        #expect(
            record.pack?.name == "ours" && record.pack?.version == "1.0.0" && record.pack?.checksum.isEmpty == false)
    }

    @Test("without its pack an existing value is read, and a missing one is an error that names the pack")
    func missing() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try Self.router(home)
        try await router.set(Data("there".utf8), for: Self.key("here"))
        #expect(try await router.get(Self.key("here")) == Data("there".utf8))
        for _ in 0..<2 {
            let error = try #require(await MigrationError.of { try await router.get(Self.key("new")) })
            #expect(error.code == .packUnavailable && error.underlying?.code == .componentNotFound)
            #expect(error.message.contains("the migration pack 'ours'") && error.message.contains("'c-pack'"))
        }
        await #expect(throws: MigrationError.packUnavailable) {
            try await router.forceMigration(for: Self.key("here"))
        }
        // Now build the pack.
        _ = try PackTableTests.build(home.fixture, [])
        try await router.set(Data("old".utf8), for: Self.key("old"))
        #expect(try await router.get(Self.key("new")) == Data("old".utf8))
    }

    @Test("a pack that is not a library, or refused, is an error that names it, and so is an unknown option")
    func damaged() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        _ = try PackTableTests.build(home.fixture, ["PACK_LIST(r,s)=\"[7]\""])
        for (text, words) in [
            (Self.packs, ["the migration pack 'ours'", "libPack.so", "list of migrations"]),
            (
                "migrations: { packs: { ours: { component: \"c-pack\", options: { colour: \"red\" } } } }",
                ["migration pack 'ours'", "unknown option 'colour'; it has breaks"]
            ),
        ] {
            let error = try #require(
                await MigrationError.of { try await Self.router(home, text).get(Self.key("new")) })
            #expect(error.code == .packUnavailable)
            for word in words { #expect(error.message.contains(word), "\(error)") }
        }
        let broken = try SealedHome()
        defer { broken.remove() }
        _ = try broken.fixture.write(Data("\u{7f}ELF and nothing else".utf8), to: "libPack.so")
        let error = try #require(await MigrationError.of { try await Self.router(broken).get(Self.key("new")) })
        #expect(error.code == .packUnavailable && error.message.contains("libPack.so"), "\(error)")
    }

    @Test("a pack that has changed without a new revision does not run again, and one with a new revision does")
    func changed() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        // Each version has a separate path, as a loaded library is not replaced.
        func router(_ version: String, _ variant: [String]) throws -> StorageRouter {
            for other in ["One", "Two", "Three"] {
                try? FileManager.default.removeItem(atPath: "\(home.folder)/lib\(other).so")
            }
            _ = try PackTableTests.build(home.fixture, variant, as: "lib\(version).so")
            return try Self.router(home)
        }
        let first = try router("One", [])
        try await first.set(Data("1".utf8), for: Self.key("old"))
        #expect(try await first.get(Self.key("new")) == Data("1".utf8))

        let second = try router("Two", ["PACK_MARK"])
        // A migration with nothing to do is still fine.
        #expect(try await second.forceMigration(for: Self.key("new")).outcome == .nothingToDo)
        try await second.set(Data("2".utf8), for: Self.key("old"))
        let error = try #require(
            await MigrationError.of { try await second.forceMigration(for: Self.key("new"), onConflict: .takeSource) })
        #expect(error.code == .packUnavailable)
        #expect(
            error.message.contains("the migration 'move' failed: the pack 'ours' has changed without a new revision"))
        #expect(try await second.get(Self.key("old")) == Data("2".utf8))

        let third = try router("Three", ["PACK_REVISION=\"2\""])
        #expect(try await third.forceMigration(for: Self.key("new"), onConflict: .takeSource).outcome == .migrated)
        #expect(try await third.get(Self.key("new")) == Data("2".utf8))
    }

    @Test("doctor describes a pack, or says why it cannot be opened")
    func doctor() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let missing = await Diagnosis.run { try Self.router(home) }
        #expect(missing.contains { $0.isProblem && $0.text.contains("the migration pack 'ours'") }, "\(missing)")
        _ = try PackTableTests.build(home.fixture, [])
        let there = await Diagnosis.run { try Self.router(home) }
        #expect(
            there.contains {
                !$0.isProblem && $0.text.hasPrefix("the migration pack 'ours' is 'c-pack' 1.0.0, named in ")
                    && $0.text.hasSuffix(", with 4 migrations")
            }, "\(there)")
    }

    @Test("two packs with one migration are refused by both their names")
    func twice() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        _ = try PackTableTests.build(home.fixture, [])
        let text = "migrations: { packs: { a: { component: \"c-pack\" }, b: { component: \"c-pack\" } } }"
        let error = try #require(await MigrationError.of { try await Self.router(home, text).get(Self.key("new")) })
        #expect(error.code == .packUnavailable)
        #expect(error.message.contains("'move' is in the packs 'a' and 'b'"), "\(error)")
    }
}
