import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import HostPlugins
@testable import LocalDataHost

@Suite("migrations that fail", .timeLimit(.minutes(3))) struct MigrationFailureTests {
    private let old: StorageKey<String> = MigrationHome.key("old", .custom(name: "rows"))

    private func key(
        _ script: @escaping @Sendable (StorageKey<String>, any StorageProviding) async throws -> MigrationResult
    ) -> StorageKey<String> {
        MigrationHome.key("new", .fileSystem()) { key in
            AnyStorageMigration(ScriptedMigration(destinationKey: key) { router, _ in try await script(key, router) })
        }
    }

    @Test("seed defect 6: an obstacle to a migration is never notFound, and nothing changes")
    func distinct() async throws {
        struct Odd: Error {}
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("data", for: old)
        let source = old
        let scripts:
            [(
                MigrationError.Code,
                @Sendable (StorageKey<String>, any StorageProviding) async throws -> MigrationResult
            )] = [
                (
                    .storageFailed,
                    { _, router in
                        _ = try await router.get(MigrationHome.key("missing", .fileSystem()) as StorageKey<String>)
                        return MigrationResult(success: true)
                    }
                ),
                (.transformationFailed, { _, _ in throw Odd() }),
                (.incompatibleTypes, { _, _ in MigrationResult(success: false, errors: [.incompatibleTypes]) }),
                (.validationFailed, { _, _ in MigrationResult(success: false) }),
                (.validationFailed, { _, _ in MigrationResult(success: true, migratedCount: 1) }),
                (
                    .storageFailed,
                    { _, router in
                        try await router.set("x", for: MigrationHome.key("k", .custom(name: "unmapped")))
                        return MigrationResult(success: true)
                    }
                ),
            ]
        for (code, script) in scripts {
            let before = home.files
            let key = key { key, router in
                // All changes that it made before it failed are discarded.
                try await router.remove(source)
                let result = try await script(key, router)
                return result
            }
            let error = await MigrationError.of { try await router.get(key) }
            #expect(error?.code == code, "\(String(describing: error))")
            #expect(error?.message.hasPrefix("the migration 'scripted' failed: ") == true)
            #expect(home.files == before)
            #expect(try await router.get(old) == "data")
        }
    }

    @Test("seed defect 14: the destination must be able to read the new value, and errors are precise")
    func unreadable() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("data", for: old)
        let oneWay = Serializer<String>.custom(
            encode: { Data($0.utf8) }, decode: { _ in throw StorageError(.corrupt, "one way only") })
        let source = old
        let kinds: [@Sendable (StorageKey<String>) -> AnyStorageMigration] = [
            { AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(source))) },
            { AnyStorageMigration(DefaultTransformingMigration(destinationKey: $0, sourceKey: source) { $0 }) },
            {
                AnyStorageMigration(
                    DefaultAggregatingMigration(destinationKey: $0, sourceKeys: [.key(source)]) {
                        try $0.value(of: source) ?? ""
                    })
            },
        ]
        for kind in kinds {
            let key: StorageKey<String> = MigrationHome.key("new", .fileSystem(), as: oneWay, migration: kind)
            let error = await MigrationError.of { try await router.get(key) }
            #expect(error?.code == .storageFailed, "\(String(describing: error))")
            #expect(error?.underlying?.code == .deserializationFailed)
            #expect(try await router.get(old) == "data")
            #expect(try await !router.exists(key))
        }
    }

    @Test("seed defect 14: a migration that uses the router instead of its transaction gets an error")
    func recursion() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let key = key { key, _ in
            _ = try await router.get(key)
            return MigrationResult(success: true)
        }
        #expect(await MigrationError.of { try await router.get(key) }?.code == .migrationInProgress)
    }

    @Test("seed defect 14: of two keys that name each other, the requested one takes the other's value")
    func mutual() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let (moved, transformed) = (
            [MutualKeys.first, MutualKeys.second], [MutualKeys.upper, MutualKeys.lower]
        )
        for (held, asked) in [moved, moved.reversed(), transformed, transformed.reversed()].map({ ($0[0], $0[1]) }) {
            let plain: StorageKey<String> = MigrationHome.key(held.name, .fileSystem())
            try await router.set("value of \(held.name)", for: plain)
            #expect(try await router.get(asked) == "value of \(held.name)")
            #expect(try await !router.exists(plain))
            try await router.remove(asked)
            await #expect(throws: StorageError.notFound) { try await router.get(held) }
        }
        // Neither has a value: both look for the other's, but not endlessly.
        for key in moved + transformed {
            await #expect(throws: StorageError.notFound) { try await router.get(key) }
        }
    }

    @Test("seed defect 14: a migration reads stored values, and starts no other migration")
    func reading() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        for key in [MutualKeys.left, MutualKeys.right] {
            let error = await MigrationError.of { try await router.get(key) }
            #expect(error?.code == .storageFailed, "\(String(describing: error))")
            #expect(error?.underlying?.code == .notFound)
        }
    }

    @Test("seed defect 7: a source is read with its own serializer, and the destination written with its own")
    func serializers() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let old: StorageKey<[String: Int]> = MigrationHome.key("old", .fileSystem(), as: .plist)
        let new: StorageKey<[String: Int]> = MigrationHome.key("new", .fileSystem()) {
            AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(old)))
        }
        try await router.set(["a": 1], for: old)
        #expect(try await router.data(for: .key(old))?.starts(with: Data("{".utf8)) == false)
        #expect(try await router.get(new) == ["a": 1])
        #expect(try await router.data(for: .key(new)) == Data(#"{"a":1}"#.utf8))
        #expect(try await router.attributes(of: .key(new))?.serializer == "json")
    }

    @Test("seed defect 10: one source that cannot be read fails the migration by name, and all of them stay")
    func aggregation() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let sound: StorageKey<String> = MigrationHome.key("sound", .fileSystem())
        let broken: StorageKey<Int> = MigrationHome.key("broken", .fileSystem())
        let key: StorageKey<String> = MigrationHome.key("new", .fileSystem()) { (key: StorageKey<String>) in
            AnyStorageMigration(
                DefaultAggregatingMigration(destinationKey: key, sourceKeys: [.key(sound), .key(broken)]) {
                    $0.compactMap { $0.value as? String }.joined()
                })
        }
        try await router.set("data", for: sound)
        try await router.setData(Data("{".utf8), for: .key(broken))
        let before = home.files
        let error = await MigrationError.of { try await router.get(key) }
        #expect(error?.code == .aggregationFailed && error?.message.contains("fileSystem:documents/broken") == true)
        #expect(home.files == before)
        try await router.remove(broken)
        #expect(try await router.get(key) == "data")
    }

    @Test("a damaged ledger, or one of a later program, does not count as empty")
    func ledger() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let source = old
        let key: StorageKey<String> = MigrationHome.key("new", .fileSystem()) {
            AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(source)))
        }
        try await router.set("data", for: old)
        #expect(try await router.get(key) == "data")
        try await router.remove(key)
        try await router.set("again", for: old)
        let file = try #require(home.files.keys.first { $0.contains("localdata.migrations") && $0.contains("ledger") })
        for (text, code) in [
            ("", StorageError.Code.corrupt), ("{}", .corrupt), ("{\"form\":3}", .unsupported),
            ("{\"form\":1,\"address\":\"fileSystem:documents/other\",\"rows\":[]}", .corrupt),
        ] {
            try Data(text.utf8).write(to: URL(filePath: "\(home.home.folder)/data/\(file)"))
            let error = await MigrationError.of { try await router.get(key) }
            #expect(error?.underlying?.code == code, "\(String(describing: error))")
            #expect(try await router.get(old) == "again")
        }
    }

    @Test("seed defect 8: a source that cannot be removed is removed by the next run, and blocks no reader")
    func cleanup() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let source: StorageKey<String> = MigrationHome.key("old", .keychain(service: "tests"))
        let key: StorageKey<String> = MigrationHome.key("new", .encryptedFileSystem()) {
            AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(source)))
        }
        try await router.set("data", for: source)
        // The source's image cannot be stored, so the source is not removed.
        let obstacle = "\(home.home.folder)/data/keychain/localdata.migrations"
        try Data().write(to: URL(filePath: obstacle))
        #expect(try await router.get(key) == "data")
        #expect(try await router.get(source) == "data")
        #expect(try await router.migrationHistory(for: key).map(\.state) == [.published])
        #expect(try await router.forceMigration(for: key).outcome == .cleanupPending)
        await #expect(throws: MigrationError.validationFailed) { try await router.migrations.rollback(of: key) }
        try FileManager.default.removeItem(atPath: obstacle)
        #expect(try await router.forceMigration(for: key).outcome == .cleaned)
        #expect(try await !router.exists(source))
        #expect(try await router.get(key) == "data")
        #expect(try await router.migrationHistory(for: key).map(\.state) == [.clean])
        let before = home.files
        #expect(try await router.forceMigration(for: key).outcome == .nothingToDo)
        #expect(home.files == before)
    }

    @Test("a source that was changed before it could be removed stays")
    func changedSource() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let source: StorageKey<String> = MigrationHome.key("old", .keychain(service: "tests"))
        let key: StorageKey<String> = MigrationHome.key("new", .encryptedFileSystem()) {
            AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(source)))
        }
        try await router.set("data", for: source)
        let obstacle = "\(home.home.folder)/data/keychain/localdata.migrations"
        try Data().write(to: URL(filePath: obstacle))
        #expect(try await router.get(key) == "data")
        try await router.set("changed", for: source)
        try FileManager.default.removeItem(atPath: obstacle)
        #expect(try await router.forceMigration(for: key).outcome == .cleaned)
        #expect(try await router.get(source) == "changed")
        #expect(try await router.get(key) == "data")
    }

    @Test("a value that changes during its migration is read again")
    func disturbed() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let (router, other) = (try home.router(), try home.router())
        try await router.set("first", for: old)
        let runs = Counter()
        let source = old
        let key = key { key, transaction in
            let value = try await transaction.get(source)
            runs.add()
            if runs.value == 1 { try await other.set("second", for: source) }
            try await transaction.set(value, for: key)
            try await transaction.remove(source)
            return MigrationResult(success: true)
        }
        #expect(try await router.get(key) == "second")
        #expect(try await !router.exists(old))
    }

    @Test("what a command runs moves nothing to memory that ends with it; in an app it moves")
    func goneWithProgram() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let (kept, moved): (StorageKey<String>, StorageKey<String>) = (
            MigrationHome.key("old.1", .fileSystem()), MigrationHome.key("new.1", .custom(name: "rows"))
        )
        var configuration = try home.home.configuration(domains: "fileSystem: \"file\", rows: \"memory\"", "")
        configuration.endsAfterCommand = true
        let command = StorageRouter(configuration: configuration)
        try await command.set("data", for: kept)
        let key: StorageKey<String> = MigrationHome.key("new", .custom(name: "rows")) {
            AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(kept)))
        }
        let move = BulkMigrationTests.move(.fileSystem(), .custom(name: "rows"))
        try await command.registerMigration(move)
        for error in [
            await MigrationError.of { try await command.get(key) },
            await MigrationError.of { try await command.runMigration("move") },
        ] {
            #expect(error?.code == .storageFailed && error?.message.contains("while a program runs") == true)
        }
        #expect(try await command.get(kept) == "data")
        configuration.endsAfterCommand = false
        let app = StorageRouter(configuration: configuration)
        try await app.registerMigration(move)
        try await app.runMigration("move")
        #expect(try await app.get(moved) == "data")
    }
}

/// Two keys, each of which migrates the other's value.
private enum MutualKeys {
    static let first: StorageKey<String> = MigrationHome.key("first", .fileSystem()) {
        AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(second)))
    }
    static let second: StorageKey<String> = MigrationHome.key("second", .fileSystem()) {
        AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(first)))
    }
    static let upper: StorageKey<String> = MigrationHome.key("upper", .fileSystem()) {
        AnyStorageMigration(DefaultTransformingMigration(destinationKey: $0, sourceKey: lower) { $0 })
    }
    static let lower: StorageKey<String> = MigrationHome.key("lower", .fileSystem()) {
        AnyStorageMigration(DefaultTransformingMigration(destinationKey: $0, sourceKey: upper) { $0 })
    }
    // These migrations do not first check whether the other key has a value.
    static let left: StorageKey<String> = MigrationHome.key("left", .fileSystem()) { copying(right, to: $0) }
    static let right: StorageKey<String> = MigrationHome.key("right", .fileSystem()) { copying(left, to: $0) }

    private static func copying(
        _ source: @autoclosure @escaping @Sendable () -> StorageKey<String>, to destination: StorageKey<String>
    ) -> AnyStorageMigration {
        AnyStorageMigration(
            ScriptedMigration(destinationKey: destination) { router, _ in
                try await router.set(try await router.get(source()), for: destination)
                return MigrationResult(success: true)
            })
    }
}
