import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import LocalDataHost

@Suite("Devices that run different releases of an app", .timeLimit(.minutes(3))) struct SyncedReleasesTests {
    /// Where release 1 has the key, and where release 2 has it.
    struct Move: CustomTestStringConvertible, Sendable {
        var first = StorageDomain.userDefaults()
        var second = StorageDomain.fileSystem()

        static let all = [
            Move(), Move(first: .custom(name: "rows")), Move(first: .fileSystem(), second: .custom(name: "rows")),
            Move(second: .encryptedFileSystem()), Move(first: .fileSystem(), second: .keychain(service: "tests")),
        ]

        var testDescription: String { "\(first) -> \(second)" }
        var old: StorageKey<String> { MigrationHome.synced("theme", first) }
        var new: StorageKey<String> { MigrationHome.synced("theme", second) }
    }

    /// Starts the app on a device.
    private func start(
        _ homes: SyncHomes, _ index: Int, _ key: StorageKey<String>
    ) async throws -> StorageRouter { try await homes.router(index, [.key(key)]) }

    /// Both devices run release 1 and have a value.
    private func older(_ homes: SyncHomes, _ move: Move) async throws {
        let (first, second) = try await homes.pair([.key(move.old)])
        try await first.set("one", for: move.old)
        for router in [first, second, first, second] { try await router.sync() }
        #expect(try await second.get(move.old) == "one")
    }

    /// Lets both devices sync until nothing changes any more.
    private func settle(_ routers: StorageRouter...) async throws {
        for _ in 0..<3 { for router in routers { try await router.sync() } }
    }

    @Test(
        "each find a moved key's value, whichever is updated first, and whether or not it syncs before it reads",
        arguments: Move.all, [(0, true), (0, false), (1, true), (1, false)])
    func moved(_ move: Move, _ order: (index: Int, syncsFirst: Bool)) async throws {
        let homes = try SyncHomes()
        try await older(homes, move)
        let updated = try await start(homes, order.index, move.new)
        if order.syncsFirst { try await updated.sync() }
        #expect(try await updated.get(move.new) == "one")
        let other = try await start(homes, 1 - order.index, move.old)
        try await settle(updated, other)
        #expect(try await other.get(move.old) == "one")
        #expect(try await updated.get(move.new) == "one")
        let later = try await start(homes, 1 - order.index, move.new)
        if order.syncsFirst { try await later.sync() }
        #expect(try await later.get(move.new) == "one")
        try await settle(updated, later)
        #expect(try await later.get(move.new) == "one")
        #expect(try await updated.get(move.new) == "one")
        for router in [updated, later] { #expect(try await router.syncConflicts().values.isEmpty) }
    }

    @Test("have what the older release set last, also once its device is updated", arguments: [0, 1], [true, false])
    func setByOlder(_ index: Int, _ syncsFirst: Bool) async throws {
        let (homes, move) = (try SyncHomes(), Move())
        try await older(homes, move)
        let updated = try await start(homes, index, move.new)
        #expect(try await updated.get(move.new) == "one")
        let other = try await start(homes, 1 - index, move.old)
        try await settle(updated, other)
        try await other.set("two", for: move.old)
        try await settle(other, updated)
        // It knows the former place, having been there itself.
        #expect(try await updated.get(move.new) == "two")
        let later = try await start(homes, 1 - index, move.new)
        if syncsFirst { try await later.sync() }
        #expect(try await later.get(move.new) == "two")
        try await settle(later, updated)
        #expect(try await later.get(move.new) == "two")
        #expect(try await updated.get(move.new) == "two")
    }

    @Test("have what the newer release set last, once the other device is updated", arguments: [0, 1], [true, false])
    func setByNewer(_ index: Int, _ readsBefore: Bool) async throws {
        let (homes, move) = (try SyncHomes(), Move())
        try await older(homes, move)
        let other = try await start(homes, 1 - index, move.old)
        try await other.set("two", for: move.old)
        try await settle(other, try await start(homes, index, move.old))
        let updated = try await start(homes, index, move.new)
        if readsBefore { #expect(try await updated.get(move.new) == "two") }
        try await updated.set("three", for: move.new)
        try await settle(updated, other)
        #expect(try await other.get(move.old) == "two")
        let later = try await start(homes, 1 - index, move.new)
        try await settle(later, updated)
        for router in [later, updated] { #expect(try await router.get(move.new) == "three") }
    }

    @Test("have what was set last, though an earlier value was brought to its new place later", arguments: [0, 1])
    func setBeforeTheMove(_ index: Int) async throws {
        let (homes, move) = (try SyncHomes(), Move(second: .custom(name: "rows")))
        try await older(homes, move)
        try await start(homes, 1 - index, move.old).set("earlier", for: move.old)
        let updated = try await start(homes, index, move.new)
        try await updated.set("later", for: move.new)
        try await updated.sync()
        // Its place changes twice before the device syncs.
        let middle = Move().new
        #expect(try await start(homes, 1 - index, middle).get(middle) == "earlier")
        let other = try await start(homes, 1 - index, move.new)
        #expect(try await other.get(move.new) == "earlier")
        try await settle(other, updated)
        for router in [other, updated] { #expect(try await router.get(move.new) == "later") }
        try await other.set("last", for: move.new)
        try await settle(other, updated)
        for router in [other, updated] { #expect(try await router.get(move.new) == "last") }
    }

    @Test("do not get back what the newer release has removed", arguments: [0, 1], [true, false])
    func removedByNewer(_ index: Int, _ readsBefore: Bool) async throws {
        let (homes, move) = (try SyncHomes(), Move())
        try await older(homes, move)
        let updated = try await start(homes, index, move.new)
        if readsBefore { #expect(try await updated.get(move.new) == "one") }
        let other = try await start(homes, 1 - index, move.old)
        try await settle(updated, other)
        try await updated.remove(move.new)
        try await settle(updated, other)
        #expect(try await other.get(move.old) == "one")
        let later = try await start(homes, 1 - index, move.new)
        try await settle(later, updated)
        for router in [later, updated] {
            await #expect(throws: StorageError.notFound) { try await router.get(move.new) }
        }
        // Nor when the removal is forgotten, since all have it: what was published at the old place still is.
        for _ in 0..<2 {
            let (first, second) = (try await start(homes, 0, move.new), try await start(homes, 1, move.new))
            try await settle(first, second)
            for router in [first, second] {
                await #expect(throws: StorageError.notFound) { try await router.get(move.new) }
            }
        }
        try await later.set("again", for: move.new)
        try await settle(later, updated)
        #expect(try await updated.get(move.new) == "again")
    }

    @Test("do not get back what the older release has removed", arguments: [0, 1], [true, false])
    func removedByOlder(_ index: Int, _ syncsBefore: Bool) async throws {
        let (homes, move) = (try SyncHomes(), Move())
        try await older(homes, move)
        let updated = try await start(homes, index, move.new)
        #expect(try await updated.get(move.new) == "one")
        let other = try await start(homes, 1 - index, move.old)
        try await settle(updated, other)
        try await other.remove(move.old)
        if syncsBefore {
            try await settle(other, updated)
            await #expect(throws: StorageError.notFound) { try await updated.get(move.new) }
        }
        let later = try await start(homes, 1 - index, move.new)
        try await settle(later, updated)
        for router in [later, updated] {
            await #expect(throws: StorageError.notFound) { try await router.get(move.new) }
        }
        // That is over: a value that is set since stays.
        try await updated.set("two", for: move.new)
        let last = try await start(homes, 1 - index, move.new)
        try await settle(updated, last)
        for router in [last, updated] { #expect(try await router.get(move.new) == "two") }
    }

    @Test("lose nothing when one goes back to release 1, and syncs before it reads", arguments: [0, 1], [true, false])
    func downgraded(_ index: Int, _ setsMeanwhile: Bool) async throws {
        let (homes, move) = (try SyncHomes(), Move())
        try await older(homes, move)
        let updated = try await start(homes, index, move.new)
        #expect(try await updated.get(move.new) == "one")
        if setsMeanwhile { try await updated.set("two", for: move.new) }
        let last = setsMeanwhile ? "two" : "one"
        try await updated.sync()
        let other = try await start(homes, 1 - index, move.old)
        try await other.sync()
        let back = try await start(homes, index, move.old)
        try await settle(back, other)
        for router in [back, other] { #expect(try await router.get(move.old) == last) }
        // Both are updated again.
        let (again, too) = (try await start(homes, index, move.new), try await start(homes, 1 - index, move.new))
        try await settle(again, too)
        for router in [again, too] { #expect(try await router.get(move.new) == last) }
    }

    @Test("lose nothing when release 3 has the key where it was, and syncs before it reads", arguments: [0, 1])
    func returned(_ index: Int) async throws {
        let (homes, move) = (try SyncHomes(), Move())
        try await older(homes, move)
        let other = try await start(homes, 1 - index, move.old)
        let updated = try await start(homes, index, move.new)
        #expect(try await updated.get(move.new) == "one")
        try await settle(updated, other)
        try await other.set("two", for: move.old)
        try await settle(other, updated)
        let third = try await start(homes, index, move.old)
        try await settle(third, other)
        for router in [third, other] { #expect(try await router.get(move.old) == "two") }
        try await third.set("three", for: move.old)
        try await settle(third, other)
        for router in [third, other] { #expect(try await router.get(move.old) == "three") }
    }

    /// The key as release 2 has it, under another name.
    private func renamed(from old: StorageKey<String>) -> StorageKey<String> {
        StorageKey(
            name: "colour", domain: old.domain, security: .none, owner: "tests", description: "a key for tests",
            syncPolicy: .automaticSmall
        ) { key in AnyStorageMigration(SimpleLegacyMigration(destinationKey: key, sourceKey: .key(old))) }
    }

    @Test(
        "store no default over a value with a new name that only the other device has had",
        arguments: [StorageDomain.userDefaults(), .fileSystem()], [true, false])
    func renamedElsewhere(_ domain: StorageDomain, _ hasSyncedBefore: Bool) async throws {
        let homes = try SyncHomes()
        let old: StorageKey<String> = MigrationHome.synced("theme", domain)
        let new = renamed(from: old)
        let (first, older) = try await homes.pair([.key(old)])
        if hasSyncedBefore { try await older.sync() }
        let second = try await homes.router(1, [.key(new)])
        try await first.set("one", for: old)
        try await first.sync()
        try await second.sync()
        let error = await MigrationError.of { try await second.get(new) }
        #expect(error?.message.contains("another device of the sync group has an older one") == true, "\(error as Any)")
        #expect(error?.message.contains("'first'") == true)
        let stored = StoredValue(new, default: "light", router: second)
        await #expect(throws: MigrationError.self) { try await stored.load() }
        // What is removed there is no value to wait for.
        try await first.remove(old)
        try await settle(first, second)
        await #expect(throws: StorageError.notFound) { try await second.get(new) }
        try await first.set("two", for: old)
        try await settle(first, second)
        await #expect(throws: MigrationError.self) { try await second.get(new) }
        let updated = try await homes.router(0, [.key(new)])
        #expect(try await updated.get(new) == "two")
        try await settle(updated, second)
        #expect(try await second.get(new) == "two")
        try await stored.load()
        #expect(stored.value == "two")
    }

    @Test("name the device that a value with a new name waits for, and store no default over it")
    func renamed() async throws {
        let homes = try SyncHomes()
        let move = Move()
        try await older(homes, move)
        let new = renamed(from: move.old)
        let second = try await homes.router(1, [.key(new)])
        for _ in 0..<2 {
            let error = await MigrationError.of { try await second.get(new) }
            #expect(error?.message.contains("userDefaults/theme") == true, "\(String(describing: error))")
            #expect(error?.message.contains("'first'") == true)
            try await second.sync()
        }
        let stored = StoredValue(new, default: "light", router: second)
        await #expect(throws: MigrationError.self) { try await stored.load() }
        #expect(try await homes.router(1, [.key(move.old)]).get(move.old) == "one")
        let first = try await homes.router(0, [.key(new)])
        #expect(try await first.get(new) == "one")
        try await settle(first, second)
        #expect(try await second.get(new) == "one")
        try await stored.load()
        #expect(stored.value == "one")
    }

    @Test(
        "have what a device set after it went back to a release that may not have the newer one's value",
        arguments: [true, false])
    func setAfterGoingBack(_ isContinuous: Bool) async throws {
        let (homes, move) = (try SyncHomes(), Move(second: .encryptedFileSystem()))
        let (_, second) = try await homes.pair([.key(move.old)])
        try await second.set("one", for: move.old)
        try await start(homes, 1, move.new).sync()
        let back = try await start(homes, 1, move.old)
        // The encrypted value may not become a plain one.
        await #expect(throws: MigrationError.self) { try await back.get(move.old) }
        if isContinuous {
            let (reports, report) = AsyncStream<Void>.makeStream()
            let syncing = Task { try await back.syncContinuously { _ in report.yield() } }
            for await _ in reports { break }
            try await back.set("two", for: move.old)
            // The key is not watched yet: the next round, once a minute or with news, finds it.
            let news: StorageKey<String> = MigrationHome.synced("news", .userDefaults())
            let other = try await homes.router(0, [.key(move.old), .key(news)])
            try await other.set("news", for: news)
            try await other.sync()
            while (try? await other.get(move.old)) != "two" { try await other.sync() }
            syncing.cancel()
            _ = await syncing.result
        } else {
            try await back.sync()
            try await back.set("two", for: move.old)
            try await back.sync()
        }
        let updated = try await start(homes, 0, move.new)
        try await updated.sync()
        #expect(try await updated.get(move.new) == "two")
    }

    @Test("go on as before if one skips the release between two moves of a key, with other keys changed meanwhile")
    func movedTwice() async throws {
        let homes = try SyncHomes()
        let (first, third) = (Move().old, Move(second: .keychain(service: "tests")).new)
        let middle = Move(second: .custom(name: "rows")).new
        let note: StorageKey<String> = MigrationHome.synced("note", .userDefaults())
        let (one, two) = try await homes.pair([.key(first), .key(note)])
        try await one.set("one", for: first)
        try await one.sync()
        try await two.set("two", for: first)
        try await two.set("theirs", for: note)
        try await two.sync()
        // Release 2 only reads.
        #expect(try await homes.router(0, [.key(middle), .key(note)]).get(middle) == "one")
        let back = try await homes.router(0, [.key(first), .key(note)])
        try await back.set("mine", for: note)
        let last = try await homes.router(0, [.key(third), .key(note)])
        try await last.sync()
        // It was no older image of the device, whose values count less.
        #expect(try await last.get(note) == "mine")
        #expect(try await last.get(third) == "two")
    }

    @Test("know a place from a release whose sub-directory was set after its catalog, though it was not used there")
    func declaredLater() async throws {
        let homes = try SyncHomes()
        let key = Move(first: .fileSystem()).old
        let (first, _) = try await homes.pair([.key(key)])
        try await first.set("one", for: key)
        for index in [0, 1] {
            let release = try await start(homes, index, key)
            await release.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: "two"))
            if index == 0 { continue }
            try await release.set("two", for: key)
            try await release.sync()
        }
        let back = try await start(homes, 0, key)
        try await back.sync()
        #expect(try await back.get(key) == "two")
    }
}
