import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import LocalDataHost

@Suite("Values of earlier versions of their types, in sync", .timeLimit(.minutes(3))) struct SyncedVersionsTests {
    struct First: Codable, Equatable, Sendable { var text: String }
    struct Second: Codable, Equatable, Sendable {
        var words: [String]
        /// The converter makes another one each time, and the order of members in JSON may be another one, too.
        var made = UUID()

        static func == (first: Second, second: Second) -> Bool { first.words == second.words }
    }

    static let domains: [StorageDomain] = [
        .userDefaults(), .fileSystem(), .encryptedFileSystem(), .keychain(service: "tests"), .custom(name: "rows"),
    ]

    /// The key in release 1, and in release 2.
    private func keys(_ domain: StorageDomain) throws -> (old: StorageKey<First>, new: StorageKey<Second>) {
        let plain: StorageKey<String> = MigrationHome.synced("note", domain)
        let (first, second) = (
            DataMigrator<First>.Builder(targetType: First.self), DataMigrator<Second>.Builder(targetType: Second.self)
        )
        second.register(from: First.self, to: Second.self) { Second(words: [$0.text]) }
        return (
            StorageKey(
                name: "note", domain: domain, security: plain.security, owner: "tests", description: "a key for tests",
                syncPolicy: .automaticSmall, migrator: try first.build()),
            StorageKey(
                name: "note", domain: domain, security: plain.security, owner: "tests", description: "a key for tests",
                syncPolicy: .automaticSmall, migrator: try second.build())
        )
    }

    /// Both devices have a value of release 1.
    private func older(_ homes: SyncHomes, _ key: StorageKey<First>) async throws {
        let (first, second) = try await homes.pair([.key(key)])
        try await second.set(First(text: "one"), for: key)
        for router in [second, first, second] { try await router.sync() }
        #expect(try await first.get(key) == First(text: "one"))
    }

    @Test(
        "are converted without looking like a later change, on whichever device the app is updated first",
        arguments: domains, [0, 1])
    func readLater(_ domain: StorageDomain, _ index: Int) async throws {
        let homes = try SyncHomes()
        let (old, new) = try keys(domain)
        try await older(homes, old)
        // One device sets the value, and does not sync yet; then the app is updated on the other one, and reads it.
        try await homes.router(1 - index, [.key(old)]).set(First(text: "two"), for: old)
        let updated = try await homes.router(index, [.key(new)])
        #expect(try await updated.get(new) == Second(words: ["one"]))
        _ = try await updated.migrate()
        try await updated.sync()
        let other = try await homes.router(1 - index, [.key(new)])
        try await SyncHomes.settle(other, updated)
        for router in [other, updated] {
            #expect(try await router.get(new) == Second(words: ["two"]))
            // What was converted is no change that anybody has lost.
            #expect(try await router.syncGroup.conflicts().values.allSatisfy { !"\($0)".contains("two") })
        }
        // Both go on to convert, and agree.
        for router in [try await homes.router(0, [.key(new)]), try await homes.router(1, [.key(new)])] {
            try await router.sync()
            #expect(try await router.get(new) == Second(words: ["two"]))
        }
    }

    @Test("are stored in the current version by the leading device's sync, so that the next release may read no other")
    func convertedBySync() async throws {
        let homes = try SyncHomes()
        let (old, new) = try keys(.userDefaults())
        try await older(homes, old)
        let leading = try await homes.router(0, [.key(new)])
        #expect(try await leading.get(new) == Second(words: ["one"]))
        try await leading.sync()
        let onlyNew = DataMigrator<Second>.Builder(targetType: Second.self)
        let third = StorageKey<Second>(
            name: "note", domain: .userDefaults(), security: SecurityPolicy.none, owner: "tests",
            description: "a key for tests", syncPolicy: .automaticSmall, migrator: try onlyNew.build())
        #expect(try await homes.router(0, [.key(third)]).get(third) == Second(words: ["one"]))
        // The other device has it by sync.
        let second = try await homes.router(1, [.key(third)])
        try await second.sync()
        #expect(try await second.get(third) == Second(words: ["one"]))
        #expect(try await second.syncGroup.conflicts().values.isEmpty)
    }

    @Test("are stored in the current version by the leading device's sync while the transport is away, too")
    func convertedAlone() async throws {
        let homes = try SyncHomes()
        let (old, new) = try keys(.userDefaults())
        try await older(homes, old)
        let leading = try await homes.router(0, [.key(new)])
        try await homes.shared.whileAway { await #expect(throws: StorageError.self) { try await leading.sync() } }
        let onlyNew = DataMigrator<Second>.Builder(targetType: Second.self)
        let third = StorageKey<Second>(
            name: "note", domain: .userDefaults(), security: SecurityPolicy.none, owner: "tests",
            description: "a key for tests", syncPolicy: .automaticSmall, migrator: try onlyNew.build())
        #expect(try await homes.router(0, [.key(third)]).get(third) == Second(words: ["one"]))
    }

    @Test("of a renamed key count from when they were set, and not from when the leading device brought them")
    func broughtLater() async throws {
        let homes = try SyncHomes()
        let old: StorageKey<String> = MigrationHome.synced("theme")
        let new = StorageKey<String>(
            name: "colour", domain: .userDefaults(), security: SecurityPolicy.none, owner: "tests",
            description: "a key for tests", syncPolicy: .automaticSmall
        ) { key in AnyStorageMigration(SimpleLegacyMigration(destinationKey: key, sourceKey: .key(old))) }
        let (first, second) = try await homes.pair([.key(old)])
        try await first.set("one", for: old)
        for router in [first, second, first] { try await router.sync() }
        // The app is updated on the device that does not lead, where a person does not wait.
        let updated = try await homes.router(1, [.key(new)])
        try await updated.set("two", for: new)
        let leading = try await homes.router(0, [.key(new)])
        #expect(try await leading.get(new) == "one")
        try await leading.sync()
        try await SyncHomes.settle(updated, leading)
        for router in [updated, leading] { #expect(try await router.get(new) == "two") }
    }
}
