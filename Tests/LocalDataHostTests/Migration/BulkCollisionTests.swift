import FoundationEssentials
import LocalDataAPI
import Testing

@testable import LocalDataHost

@Suite("bulk migrations that contradict themselves", .timeLimit(.minutes(3))) struct BulkCollisionTests {
    private let rows = StorageDomain.custom(name: "rows")

    private func move(_ id: String, _ from: String, _ to: String, _ domain: StorageDomain? = nil) -> SimpleBulkMigration
    {
        SimpleBulkMigration(
            id: id, from: BulkMigrationTests.range(domain ?? rows, from), to: BulkMigrationTests.range(rows, to))
    }

    private func expectRefusal(
        _ code: MigrationError.Code, naming text: String, _ migrations: [SimpleBulkMigration], values: [String]
    ) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        for name in values { try await router.set("value", for: BulkMigrationTests.key(name, rows)) }
        let before = home.files
        let error = await MigrationError.of {
            for migration in migrations { try await router.registerMigration(migration) }
            return try await router.runMigration(migrations[0].id)
        }
        #expect(error?.code == code && error?.message.contains(text) == true, "\(String(describing: error))")
        #expect(home.files == before)
    }

    @Test("seed defect 31: ranges that overlap, swap, or map two values to one name are found before the first write")
    func collisions() async throws {
        try await expectRefusal(.validationFailed, naming: "rows/app.*", [move("a", "", "app.")], values: ["x"])
        try await expectRefusal(.validationFailed, naming: "part of it", [move("a", "a.", "a.")], values: ["a.x"])
        try await expectRefusal(
            .conflict, naming: "rows/a.a.x", [move("a", "a.", "")], values: ["a.a.x", "a.b", "a.x"])
        try await expectRefusal(
            .conflict, naming: "each take what the other brings", [move("one", "a.", "b."), move("two", "b.", "a.")],
            values: ["a.x", "b.x"])
        try await expectRefusal(
            .conflict, naming: "rows/b.x", [move("one", "a.", "c."), move("two", "b.", "c.")],
            values: ["a.w", "a.x", "b.x", "b.y"])
        try await expectRefusal(
            .validationFailed, naming: "1025 bytes", [move("a", "a.", "long.")],
            values: ["a.x", "a." + String(repeating: "n", count: 1020)])
        try await expectRefusal(.validationFailed, naming: "empty", [move("a", "a.", "")], values: ["a.", "a.x"])
        try await expectRefusal(
            .unresolvedDependency, naming: "not registered",
            [
                SimpleBulkMigration(
                    id: "a", from: BulkMigrationTests.range(rows, "a."), to: BulkMigrationTests.range(rows, "b."),
                    dependencies: ["missing"])
            ], values: ["a.x"])
    }

    @Test("the host's own keys are not moved, and a store that cannot list values is an error that says so")
    func reserved() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router(
            version: nil, "encryption: { service: \"tests\", account: \"old.master\" }")
        let (from, to) = (StorageDomain.keychain(service: "tests"), StorageDomain.keychain(service: "other"))
        try await router.set("sealed", for: BulkMigrationTests.key("sealed", .encryptedFileSystem()))
        try await router.set("secret", for: BulkMigrationTests.key("old.secret", from))
        try await router.registerMigration(
            SimpleBulkMigration(
                id: "all", from: BulkMigrationTests.range(from, ""), to: BulkMigrationTests.range(to, "")))
        #expect(try await router.runMigration("all").migratedCount == 1)
        #expect(try await router.get(BulkMigrationTests.key("old.secret", to)) == "secret")
        let next = try home.router(version: nil, "encryption: { service: \"tests\", account: \"old.master\" }")
        #expect(try await next.get(BulkMigrationTests.key("sealed", .encryptedFileSystem())) == "sealed")
    }
}
