import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostStores
@testable import LocalDataHost

@Suite("bulk migrations", .timeLimit(.minutes(5))) struct BulkMigrationTests {
    /// More than one chunk of values that the host seals.
    private static let count = 300

    /// Moves `old.*` of one domain to `new.*` of another.
    static func move(
        _ from: StorageDomain, _ to: StorageDomain, _ policy: MigrationConflictPolicy = .keepDestination
    ) -> SimpleBulkMigration {
        SimpleBulkMigration(
            id: "move", from: range(from, "old."), to: range(to, "new."), conflictPolicy: policy)
    }

    static func range(_ domain: StorageDomain, _ prefix: String) -> MigrationRange {
        MigrationRange(domain: domain, prefix: prefix, security: key("", domain).security)
    }

    static func key(_ name: String, _ domain: StorageDomain) -> StorageKey<String> { MigrationHome.key(name, domain) }

    /// Stores `old.1` and so on, and some values outside the range.
    private func fill(_ router: StorageRouter, _ domain: StorageDomain, count: Int = count) async throws {
        var batch = StorageBatch()
        for number in 1...count { try batch.set("value \(number)", for: Self.key("old.\(number)", domain)) }
        try batch.set("other", for: Self.key("old", domain))
        try batch.set("other", for: Self.key("older", domain))
        try await router.apply(batch)
    }

    @Test(
        "all values of a range move to another range, in every pair of stores, and can be rolled back",
        arguments: MigrationHome.domains, MigrationHome.domains)
    func pairs(_ from: StorageDomain, _ to: StorageDomain) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router(version: "2.0")
        try await fill(try home.router(version: "1.0"), from)
        let isProtected = Self.key("", to).security != .none
        guard isProtected || Self.key("", from).security == .none else {
            await #expect(throws: MigrationError.validationFailed) {
                try await router.registerMigration(Self.move(from, to))
            }
            return
        }
        try await router.registerMigration(Self.move(from, to))
        let result = try await router.runMigration("move")
        #expect(result.outcome == .migrated && result.migratedCount == Self.count)
        #expect(try await router.names(in: from, prefix: "old.").isEmpty)
        #expect(try await router.names(in: to, prefix: "new.").count == Self.count)
        #expect(try await router.get(Self.key("old", from)) == "other")
        #expect(try await router.get(Self.key("older", from)) == "other")
        for number in [1, 256, 257, Self.count] {
            let key = Self.key("new.\(number)", to)
            #expect(try await router.get(key) == "value \(number)")
            #expect(try await router.attributes(of: .key(key))?.appVersion == "1.0")
        }
        let record = try await router.migrations.record(of: "move")
        #expect(record?.state == .clean && record?.sources == [Self.range(from, "old.").description])
        let before = home.files
        #expect(try await router.runMigration("move").outcome == .nothingToDo)
        #expect(home.files == before)
        try await router.migrations.rollback("move")
        #expect(try await router.names(in: from, prefix: "old.").count == Self.count)
        #expect(try await router.names(in: to, prefix: "new.").isEmpty)
        #expect(try await router.get(Self.key("old.\(Self.count)", from)) == "value \(Self.count)")
        #expect(try await router.attributes(of: .key(Self.key("old.1", from)))?.appVersion == "1.0")
        #expect(try await router.migrations.record(of: "move")?.state == .rolledBack)
        #expect(try await router.runMigration("move").migratedCount == Self.count)
        try await router.migrations.confirm("move")
        await #expect(throws: MigrationError.validationFailed) { try await router.migrations.rollback("move") }
    }

    @Test("a requested value is migrated by itself, and the others stay until all are moved")
    func lazily() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let (from, to) = (StorageDomain.custom(name: "rows"), StorageDomain.fileSystem())
        try await fill(router, from, count: 5)
        try await router.registerMigration(Self.move(from, to))
        async let first = router.get(Self.key("new.3", to))
        async let second = router.get(Self.key("new.3", to))
        #expect(try await [first, second] == ["value 3", "value 3"])
        #expect(try await router.names(in: from, prefix: "old.") == ["old.1", "old.2", "old.4", "old.5"])
        await #expect(throws: StorageError.notFound) { try await router.get(Self.key("new.6", to)) }
        #expect(try await router.migrations.record(of: "move")?.state == .published)
        // No run of all was interrupted.
        let status = try #require(try await router.migrations.status().migrations.first)
        #expect(status.state == .notRun && status.next == .run && status.needsAttention)
        #expect(try await router.migrations.resume().entries.isEmpty)
        #expect(try await router.names(in: from, prefix: "old.").count == 4)
        #expect(try await router.runMigration("move").migratedCount == 4)
        #expect(try await router.migrations.record(of: "move")?.state == .clean)
        try await router.migrations.rollback("move")
        #expect(try await router.names(in: from, prefix: "old.").count == 5)
        #expect(try await router.names(in: to, prefix: "new.").isEmpty)
    }

    @Test("values are converted while they move, and the old ones are kept for a rollback")
    func converting() async throws {
        struct Upper: BulkMigration {
            let id = "upper"
            let source: MigrationRange
            let destination: MigrationRange

            func convert(_ data: Data, named name: String) throws -> Data {
                guard name != "old.broken" else { throw StorageError(.corrupt, "'\(name)' is broken") }
                return Data(String(decoding: data, as: UTF8.self).uppercased().utf8)
            }
        }
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router(version: "2.0")
        let (from, to) = (StorageDomain.keychain(service: "tests"), StorageDomain.custom(name: "rows"))
        try await fill(router, from, count: 3)
        let unsafe = Upper(source: Self.range(from, "old."), destination: Self.range(to, "new."))
        // An unsealed database protects less than a keychain.
        await #expect(throws: MigrationError.validationFailed) { try await router.registerMigration(unsafe) }
        let domain = StorageDomain.encryptedFileSystem()
        try await router.registerMigration(
            Upper(source: Self.range(from, "old."), destination: Self.range(domain, "new.")))
        try await router.setData(Data("\"x\"".utf8), for: .key(Self.key("old.broken", from)))
        let error = await MigrationError.of { try await router.runMigration("upper") }
        #expect(error?.message.contains("'old.broken' is broken") == true)
        #expect(try await router.names(in: domain, prefix: "new.").isEmpty)
        try await router.remove(Self.key("old.broken", from))
        #expect(try await router.runMigration("upper").migratedCount == 3)
        #expect(try await router.get(Self.key("new.2", domain)) == "VALUE 2")
        try await router.migrations.rollback("upper")
        #expect(try await router.get(Self.key("old.2", from)) == "value 2")
        #expect(home.files.keys.allSatisfy { !$0.contains("image") })
    }

    @Test("an existing value stays, is replaced, or stops the whole migration before it begins")
    func conflicts() async throws {
        let (from, to) = (StorageDomain.fileSystem(), StorageDomain.custom(name: "rows"))
        for policy in MigrationConflictPolicy.allCases {
            let home = try MigrationHome()
            defer { home.remove() }
            let router = try home.router()
            try await fill(router, from)
            try await router.set("there", for: Self.key("new.280", to))
            try await router.registerMigration(Self.move(from, to, policy))
            if policy == .fail {
                let before = home.files
                let error = await MigrationError.of { try await router.runMigration("move") }
                #expect(error?.code == .conflict && error?.message.contains("rows/new.280") == true)
                #expect(home.files == before)
                continue
            }
            let moved = policy == .takeSource ? Self.count : Self.count - 1
            #expect(try await router.runMigration("move").migratedCount == moved)
            #expect(
                try await router.get(Self.key("new.280", to)) == (policy == .takeSource ? "value 280" : "there"))
            #expect(try await router.exists(Self.key("old.280", from)) == (policy == .keepDestination))
            try await router.migrations.rollback("move")
            #expect(try await router.get(Self.key("new.280", to)) == "there")
            #expect(try await router.get(Self.key("old.280", from)) == "value 280")
        }
    }

    @Test("a value that has changed since prevents a rollback, and is named")
    func changedSince() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let (from, to) = (StorageDomain.fileSystem(), StorageDomain.custom(name: "rows"))
        try await fill(router, from, count: 3)
        try await router.registerMigration(Self.move(from, to))
        try await router.runMigration("move")
        try await router.set("changed", for: Self.key("new.2", to))
        let error = await MigrationError.of { try await router.migrations.rollback("move") }
        #expect(error?.message.contains("rows/new.2") == true)
        #expect(try await router.names(in: to, prefix: "new.").count == 3)
    }
}
