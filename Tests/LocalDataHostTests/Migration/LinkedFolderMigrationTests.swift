import FoundationEssentials
import LocalDataAPI
import Testing

@testable import LocalDataHost

@Suite("migrations between two paths of one folder", .timeLimit(.minutes(2))) struct LinkedFolderMigrationTests {
    private static let policies: [MigrationConflictPolicy] = [.keepDestination, .takeSource, .dropSource]

    /// The same folder by its own path, and by that of a symbolic link.
    private func domains(_ home: MigrationHome) throws -> (real: StorageDomain, link: StorageDomain) {
        let folder = home.home.folder
        try FileManager.default.createDirectory(atPath: "\(folder)/real", withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/link", withDestinationPath: "real")
        return (
            .fileSystem(directory: .custom(URL(filePath: "\(folder)/real"))),
            .fileSystem(directory: .custom(URL(filePath: "\(folder)/link")))
        )
    }

    @Test("no value is removed that is its own destination", arguments: policies)
    func one(_ policy: MigrationConflictPolicy) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let (real, link) = try domains(home)
        let old: StorageKey<String> = MigrationHome.key("value", link)
        let key: StorageKey<String> = MigrationHome.key("value", real) { key in
            AnyStorageMigration(
                SimpleLegacyMigration(destinationKey: key, sourceKey: .key(old), conflictPolicy: policy))
        }
        let router = try home.router()
        try await router.set("kept", for: old)
        let error = await MigrationError.of { try await router.forceMigration(for: key) }
        #expect(policy == .keepDestination ? error == nil : error?.code == .validationFailed)
        #expect(try await router.get(key) == "kept")
    }

    @Test("no range is removed that is its own destination", arguments: policies)
    func many(_ policy: MigrationConflictPolicy) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let (real, link) = try domains(home)
        let router = try home.router()
        for number in 1...3 { try await router.set("kept", for: BulkMigrationTests.key("old.\(number)", link)) }
        try await router.registerMigration(
            SimpleBulkMigration(
                id: "move", from: BulkMigrationTests.range(link, "old."), to: BulkMigrationTests.range(real, "old."),
                conflictPolicy: policy))
        let error = await MigrationError.of { try await router.runMigration("move") }
        #expect(error?.code == .validationFailed)
        #expect(try await router.names(in: real, prefix: "old.").count == 3)
    }
}
