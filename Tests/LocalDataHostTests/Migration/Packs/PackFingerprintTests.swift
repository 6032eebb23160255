import FoundationEssentials
import LocalDataAPI
import Testing

@testable import LocalDataHost

@Suite("packs with fingerprints of their migrations", .waitsForPrograms) struct PackFingerprintTests {
    private static func key(_ name: String) -> StorageKey<Data> {
        StorageKey(
            name: name, domain: .custom(name: "own"), security: .none, serializer: .data, owner: "tests",
            description: "a key for tests")
    }

    /// A home whose pack is rebuilt for every run.
    private struct Builds {
        let home: SealedHome

        /// Runs the migration on a new value, in another build of the pack.
        func run(_ build: String, _ fingerprint: String?, revision: Int = 1) async throws -> MigrationOutcome {
            for file in try FileManager.default.contentsOfDirectory(atPath: home.folder) where file.hasSuffix(".so") {
                try FileManager.default.removeItem(atPath: "\(home.folder)/\(file)")
            }
            let member = fingerprint.map { "\"fingerprint\":\"\($0)\"," } ?? ""
            let list =
                "[{\"id\":\"move\",\"revision\":\(revision),\(member)\"summary\":\"build \(build)\","
                + "\"destination\":{\"address\":\"own/new\"},\"sources\":[{\"address\":\"own/old\"}]}]"
            _ = try PackTableTests.build(
                home.fixture, [PackTableTests.Refusal(list: list, "").variant], as: "lib\(build).so")
            let router = try home.router(
                domains: "own: \"file\"", "migrations: { packs: { ours: { component: \"c-pack\" } } }")
            try await router.set(Data(build.utf8), for: PackFingerprintTests.key("old"))
            let outcome = try await router.forceMigration(
                for: PackFingerprintTests.key("new"), onConflict: .takeSource
            ).outcome
            let record = try await router.migrationHistory(for: PackFingerprintTests.key("new")).first
            #expect(record?.pack?.fingerprint == fingerprint && record?.revision == revision)
            return outcome
        }

        /// Like `run`, when the migration must be refused.
        func refusal(_ build: String, _ fingerprint: String?) async throws -> String {
            let error = try #require(await MigrationError.of { try await run(build, fingerprint) })
            #expect(error.code == .packUnavailable)
            return error.message
        }
    }

    @Test("a migration with an unchanged fingerprint runs again in another build")
    func told() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let builds = Builds(home: home)
        #expect(try await builds.run("One", "moves") == .migrated)
        #expect(try await builds.run("Two", "moves") == .migrated)
        let message = try await builds.refusal("Three", "moves twice")
        for words in [
            "the pack 'ours' has changed its migration 'move' without a new revision: ",
            "with the fingerprint moves, and 'ours 1.0.0' would run it again with moves twice;",
        ] { #expect(message.contains(words), "\(message)") }
        #expect(try await builds.run("Four", "moves twice", revision: 2) == .migrated)
    }

    @Test("if one of two builds has no fingerprint, their files and options are compared")
    func untold() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let builds = Builds(home: home)
        #expect(try await builds.run("One", nil) == .migrated)
        for (build, fingerprint) in [("Two", "moves"), ("Three", nil)] {
            #expect(try await builds.refusal(build, fingerprint).contains("has changed without a new revision"))
        }
        let other = try SealedHome()
        defer { other.remove() }
        #expect(try await Builds(home: other).run("One", "moves") == .migrated)
        #expect(try await Builds(home: other).refusal("Two", nil).contains("has changed without a new revision"))
    }

    @Test("a row that an earlier host has written is read, and one without a fingerprint is written as it was")
    func earlierRow() throws {
        let text = #"{"checksum":"c0ffee","component":"standard","name":"ours","version":"0.1.0"}"#
        let identity = try JSONDecoder().decode(MigrationPackIdentity.self, from: Data(text.utf8))
        #expect(identity.fingerprint == nil && identity.checksum == "c0ffee")
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(identity), as: UTF8.self) == text)
        let told = identity.with(fingerprint: "moves")
        #expect(try JSONDecoder().decode(MigrationPackIdentity.self, from: encoder.encode(told)) == told)
    }

    @Test("a pack in Swift may have fingerprints of its migrations")
    func exported() throws {
        struct Told: StorageMigration {
            let destinationKey = PackFingerprintTests.key("new")
            let fingerprint: String?

            func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
                false
            }

            func migrate(using router: any StorageProviding, context: MigrationContext) async throws -> MigrationResult
            {
                MigrationResult(success: true)
            }
        }
        struct Range: BulkMigration {
            let id = "range"
            let source = MigrationRange(domain: .custom(name: "own"), prefix: "a")
            let destination = MigrationRange(domain: .custom(name: "own"), prefix: "b")
            let fingerprint: String? = "ä 1"
        }
        let list = try MigrationDescription.list(
            MigrationDescription.json(
                [AnyStorageMigration(Told(fingerprint: "x"))], [AnyBulkMigration(Range())]))
        #expect(list.map(\.fingerprint) == ["x", "ä 1"])
        let untold = try MigrationDescription.json([AnyStorageMigration(Told(fingerprint: nil))], [])
        #expect(!String(decoding: untold, as: UTF8.self).contains("fingerprint"))
        #expect(try MigrationDescription.list(untold).map(\.fingerprint) == [nil])
    }

    @Test(
        "an empty or long fingerprint, or one of two lines, is refused with its migration",
        arguments: ["", "a\\nb", "\\u0000"])
    func unusable(_ text: String) throws {
        for text in [text, String(repeating: "é", count: 129)] {
            let list = #"[{"id":"a","fingerprint":"\#(text)","destination":{"address":"own/a"}}]"#
            let error = try #require(throws: StorageError.self) { try MigrationDescription.list(Data(list.utf8)) }
            #expect(error.code == .pluginRefused)
            #expect(error.message.contains("the migration 'a' with an invalid fingerprint"), "\(error)")
        }
        let long = String(repeating: "é", count: 128)
        let list = #"[{"id":"a","fingerprint":"\#(long)","destination":{"address":"own/a"}}]"#
        #expect(try MigrationDescription.list(Data(list.utf8)).first?.fingerprint == long)
    }
}
