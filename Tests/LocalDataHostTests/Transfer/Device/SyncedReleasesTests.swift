import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import LocalDataHost

@Suite("Devices that run different releases of an app", .timeLimit(.minutes(3))) struct SyncedReleasesTests {
    @Test(
        "each find a moved key's value, whichever is updated first, and whether or not it syncs before it reads",
        arguments: KeyMove.all, [(0, true), (0, false), (1, true), (1, false)])
    func moved(_ move: KeyMove, _ order: (index: Int, syncsFirst: Bool)) async throws {
        let homes = try SyncHomes()
        try await homes.older(move)
        let updated = try await homes.start(order.index, move.new)
        if order.syncsFirst { try await updated.sync() }
        #expect(try await updated.get(move.new) == "one")
        let other = try await homes.start(1 - order.index, move.old)
        try await SyncHomes.settle(updated, other)
        #expect(try await other.get(move.old) == "one")
        #expect(try await updated.get(move.new) == "one")
        let later = try await homes.start(1 - order.index, move.new)
        if order.syncsFirst { try await later.sync() }
        #expect(try await later.get(move.new) == "one")
        try await SyncHomes.settle(updated, later)
        #expect(try await later.get(move.new) == "one")
        #expect(try await updated.get(move.new) == "one")
        for router in [updated, later] { #expect(try await router.syncGroup.conflicts().values.isEmpty) }
    }

    @Test("have what the older release set last, also once its device is updated", arguments: [0, 1], [true, false])
    func setByOlder(_ index: Int, _ syncsFirst: Bool) async throws {
        let (homes, move) = (try SyncHomes(), KeyMove())
        try await homes.older(move)
        let updated = try await homes.start(index, move.new)
        #expect(try await updated.get(move.new) == "one")
        let other = try await homes.start(1 - index, move.old)
        try await SyncHomes.settle(updated, other)
        try await other.set("two", for: move.old)
        try await SyncHomes.settle(other, updated)
        // It knows the former place, having been there itself.
        #expect(try await updated.get(move.new) == "two")
        let later = try await homes.start(1 - index, move.new)
        if syncsFirst { try await later.sync() }
        #expect(try await later.get(move.new) == "two")
        try await SyncHomes.settle(later, updated)
        #expect(try await later.get(move.new) == "two")
        #expect(try await updated.get(move.new) == "two")
    }

    @Test("have what the newer release set last, once the other device is updated", arguments: [0, 1], [true, false])
    func setByNewer(_ index: Int, _ readsBefore: Bool) async throws {
        let (homes, move) = (try SyncHomes(), KeyMove())
        try await homes.older(move)
        let other = try await homes.start(1 - index, move.old)
        try await other.set("two", for: move.old)
        try await SyncHomes.settle(other, try await homes.start(index, move.old))
        let updated = try await homes.start(index, move.new)
        if readsBefore { #expect(try await updated.get(move.new) == "two") }
        try await updated.set("three", for: move.new)
        try await SyncHomes.settle(updated, other)
        #expect(try await other.get(move.old) == "two")
        let later = try await homes.start(1 - index, move.new)
        try await SyncHomes.settle(later, updated)
        for router in [later, updated] { #expect(try await router.get(move.new) == "three") }
    }

    @Test("have what was set last, though an earlier value was brought to its new place later", arguments: [0, 1])
    func setBeforeTheKeyMove(_ index: Int) async throws {
        let (homes, move) = (try SyncHomes(), KeyMove(second: .custom(name: "rows")))
        try await homes.older(move)
        try await homes.start(1 - index, move.old).set("earlier", for: move.old)
        let updated = try await homes.start(index, move.new)
        try await updated.set("later", for: move.new)
        try await updated.sync()
        // Its place changes twice before the device syncs.
        let middle = KeyMove().new
        #expect(try await homes.start(1 - index, middle).get(middle) == "earlier")
        let other = try await homes.start(1 - index, move.new)
        #expect(try await other.get(move.new) == "earlier")
        try await SyncHomes.settle(other, updated)
        for router in [other, updated] { #expect(try await router.get(move.new) == "later") }
        try await other.set("last", for: move.new)
        try await SyncHomes.settle(other, updated)
        for router in [other, updated] { #expect(try await router.get(move.new) == "last") }
    }

    @Test("lose nothing when one goes back to release 1, and syncs before it reads", arguments: [0, 1], [true, false])
    func downgraded(_ index: Int, _ setsMeanwhile: Bool) async throws {
        let (homes, move) = (try SyncHomes(), KeyMove())
        try await homes.older(move)
        let updated = try await homes.start(index, move.new)
        #expect(try await updated.get(move.new) == "one")
        if setsMeanwhile { try await updated.set("two", for: move.new) }
        let last = setsMeanwhile ? "two" : "one"
        try await updated.sync()
        let other = try await homes.start(1 - index, move.old)
        try await other.sync()
        let back = try await homes.start(index, move.old)
        try await SyncHomes.settle(back, other)
        for router in [back, other] { #expect(try await router.get(move.old) == last) }
        // Both are updated again.
        let (again, too) = (try await homes.start(index, move.new), try await homes.start(1 - index, move.new))
        try await SyncHomes.settle(again, too)
        for router in [again, too] { #expect(try await router.get(move.new) == last) }
    }

    @Test("lose nothing when release 3 has the key where it was, and syncs before it reads", arguments: [0, 1])
    func returned(_ index: Int) async throws {
        let (homes, move) = (try SyncHomes(), KeyMove())
        try await homes.older(move)
        let other = try await homes.start(1 - index, move.old)
        let updated = try await homes.start(index, move.new)
        #expect(try await updated.get(move.new) == "one")
        try await SyncHomes.settle(updated, other)
        try await other.set("two", for: move.old)
        try await SyncHomes.settle(other, updated)
        let third = try await homes.start(index, move.old)
        try await SyncHomes.settle(third, other)
        for router in [third, other] { #expect(try await router.get(move.old) == "two") }
        try await third.set("three", for: move.old)
        try await SyncHomes.settle(third, other)
        for router in [third, other] { #expect(try await router.get(move.old) == "three") }
    }

    @Test(
        "have what one set after another's change that was published only at the key's next place, where it is no more",
        arguments: [0, 1])
    func returnedAfterChange(_ index: Int) async throws {
        let (homes, move) = (try SyncHomes(), KeyMove())
        try await homes.older(move)
        let older = try await homes.start(index, move.old)
        try await older.set("two", for: move.old)
        // Sync notices the change, and cannot publish it.
        try await homes.shared.whileAway { await #expect(throws: StorageError.self) { try await older.sync() } }
        try await homes.start(index, move.new).sync()
        let other = try await homes.start(1 - index, move.new)
        try await other.sync()
        #expect(try await other.get(move.new) == "two")
        try await other.set("three", for: move.new)
        try await other.sync()
        let third = try await homes.start(index, move.old)
        try await third.sync()
        #expect(try await third.get(move.old) == "three")
        #expect(try await third.syncGroup.conflicts().values.isEmpty)
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
        try await SyncHomes.settle(first, second)
        await #expect(throws: StorageError.notFound) { try await second.get(new) }
        try await first.set("two", for: old)
        try await SyncHomes.settle(first, second)
        await #expect(throws: MigrationError.self) { try await second.get(new) }
        let updated = try await homes.router(0, [.key(new)])
        #expect(try await updated.get(new) == "two")
        try await SyncHomes.settle(updated, second)
        #expect(try await second.get(new) == "two")
        try await stored.load()
        #expect(stored.value == "two")
    }

    @Test(
        "have a value with a new name that only a device with the older release had set",
        arguments: [StorageDomain.userDefaults(), .encryptedFileSystem(), .custom(name: "rows")])
    func renamedOnLeader(_ domain: StorageDomain) async throws {
        let homes = try SyncHomes()
        let old: StorageKey<String> = MigrationHome.synced("theme", domain)
        let new = renamed(from: old)
        let (_, older) = try await homes.pair([.key(old)])
        let leading = try await homes.router(0, [.key(new)])
        try await older.set("one", for: old)
        try await older.sync()
        try await leading.sync()
        #expect(try await leading.get(new) == "one")
        try await leading.sync()
        let second = try await homes.router(1, [.key(new)])
        try await SyncHomes.settle(second, leading)
        #expect(try await second.get(new) == "one")
        // What is removed under its new name stays so, also when the removal is forgotten, and another device leads.
        try await leading.remove(new)
        for _ in 0..<3 {
            let (first, second) = (try await homes.router(0, [.key(new)]), try await homes.router(1, [.key(new)]))
            try await SyncHomes.settle(first, second)
            for router in [first, second] {
                await #expect(throws: StorageError.notFound) { try await router.get(new) }
            }
        }
        try await homes.router(0, [.key(new)]).syncGroup.leave()
        let last = try await homes.router(1, [.key(new)])
        try await SyncHomes.settle(last)
        await #expect(throws: StorageError.notFound) { try await last.get(new) }
    }

    @Test(
        "have a value with a new name that one had set, and not yet published when it was updated",
        arguments: [true, false])
    func renamedUnpublished(_ isLeading: Bool) async throws {
        let homes = try SyncHomes()
        let old: StorageKey<String> = MigrationHome.synced("theme")
        let new = renamed(from: old)
        let routers = try await homes.pair([.key(old)])
        let index = isLeading ? 0 : 1
        try await (isLeading ? routers.first : routers.second).set("one", for: old)
        let updated = try await homes.router(index, [.key(new)])
        try await updated.sync()
        let other = try await homes.router(1 - index, [.key(new)])
        for router in [other, updated, other, updated, other] {
            try await router.sync()
            _ = try? await router.get(new)
        }
        for router in [other, updated] { #expect(try await router.get(new) == "one") }
        try await other.set("two", for: new)
        try await SyncHomes.settle(other, updated)
        for router in [other, updated] { #expect(try await router.get(new) == "two") }
        try await other.remove(new)
        for _ in 0..<3 {
            let (first, second) = (try await homes.router(0, [.key(new)]), try await homes.router(1, [.key(new)]))
            try await SyncHomes.settle(first, second)
            for router in [first, second] {
                await #expect(throws: StorageError.notFound) { try await router.get(new) }
            }
        }
    }

    @Test("have a value with a new name from the leading one's sync, before anybody has read it there")
    func renamedUnread() async throws {
        let homes = try SyncHomes()
        let old: StorageKey<String> = MigrationHome.synced("theme")
        let new = renamed(from: old)
        try await homes.pair([.key(old)]).first.set("one", for: old)
        try await homes.router(0, [.key(new)]).sync()
        let other = try await homes.router(1, [.key(new)])
        try await other.sync()
        #expect(try await other.get(new) == "one")
    }

    @Test("name the device that a value with a new name waits for, and store no default over it")
    func renamed() async throws {
        let homes = try SyncHomes()
        let move = KeyMove()
        try await homes.older(move)
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
        try await SyncHomes.settle(first, second)
        #expect(try await second.get(new) == "one")
        try await stored.load()
        #expect(stored.value == "one")
    }

    @Test(
        "have what a device set after it went back to a release that may not have the newer one's value",
        arguments: [true, false])
    func setAfterGoingBack(_ isContinuous: Bool) async throws {
        let (homes, move) = (try SyncHomes(), KeyMove(second: .encryptedFileSystem()))
        let (_, second) = try await homes.pair([.key(move.old)])
        try await second.set("one", for: move.old)
        try await homes.start(1, move.new).sync()
        let back = try await homes.start(1, move.old)
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
        let updated = try await homes.start(0, move.new)
        try await updated.sync()
        #expect(try await updated.get(move.new) == "two")
    }

    @Test("go on as before if one skips the release between two moves of a key, with other keys changed meanwhile")
    func movedTwice() async throws {
        let homes = try SyncHomes()
        let (first, third) = (KeyMove().old, KeyMove(second: .keychain(service: "tests")).new)
        let middle = KeyMove(second: .custom(name: "rows")).new
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
        let key = KeyMove(first: .fileSystem()).old
        let (first, _) = try await homes.pair([.key(key)])
        try await first.set("one", for: key)
        for index in [0, 1] {
            let release = try await homes.start(index, key)
            await release.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: "two"))
            if index == 0 { continue }
            try await release.set("two", for: key)
            try await release.sync()
        }
        let back = try await homes.start(0, key)
        try await back.sync()
        #expect(try await back.get(key) == "two")
    }
}
