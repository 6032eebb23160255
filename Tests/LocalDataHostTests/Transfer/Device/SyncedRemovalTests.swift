import LocalDataAPI
import TestSupport
import Testing

@testable import LocalDataHost

@Suite("Removals on devices that run different releases of an app", .timeLimit(.minutes(3)))
struct SyncedRemovalTests {
    @Test("do not get back what the newer release has removed", arguments: [0, 1], [true, false])
    func removedByNewer(_ index: Int, _ readsBefore: Bool) async throws {
        let (homes, move) = (try SyncHomes(), KeyMove())
        try await homes.older(move)
        let updated = try await homes.start(index, move.new)
        if readsBefore { #expect(try await updated.get(move.new) == "one") }
        let other = try await homes.start(1 - index, move.old)
        try await SyncHomes.settle(updated, other)
        try await updated.remove(move.new)
        try await SyncHomes.settle(updated, other)
        #expect(try await other.get(move.old) == "one")
        let later = try await homes.start(1 - index, move.new)
        try await SyncHomes.settle(later, updated)
        for router in [later, updated] {
            await #expect(throws: StorageError.notFound) { try await router.get(move.new) }
        }
        // Nor when the removal is forgotten, since all have it: what was published at the old place still is.
        for _ in 0..<2 {
            let (first, second) = (try await homes.start(0, move.new), try await homes.start(1, move.new))
            try await SyncHomes.settle(first, second)
            for router in [first, second] {
                await #expect(throws: StorageError.notFound) { try await router.get(move.new) }
            }
        }
        try await later.set("again", for: move.new)
        try await SyncHomes.settle(later, updated)
        #expect(try await updated.get(move.new) == "again")
    }

    @Test("do not get back what the older release has removed", arguments: [0, 1], [true, false])
    func removedByOlder(_ index: Int, _ syncsBefore: Bool) async throws {
        let (homes, move) = (try SyncHomes(), KeyMove())
        try await homes.older(move)
        let updated = try await homes.start(index, move.new)
        #expect(try await updated.get(move.new) == "one")
        let other = try await homes.start(1 - index, move.old)
        try await SyncHomes.settle(updated, other)
        try await other.remove(move.old)
        if syncsBefore {
            try await SyncHomes.settle(other, updated)
            await #expect(throws: StorageError.notFound) { try await updated.get(move.new) }
        }
        let later = try await homes.start(1 - index, move.new)
        try await SyncHomes.settle(later, updated)
        for router in [later, updated] {
            await #expect(throws: StorageError.notFound) { try await router.get(move.new) }
        }
        // That is over: a value that is set since stays.
        try await updated.set("two", for: move.new)
        let last = try await homes.start(1 - index, move.new)
        try await SyncHomes.settle(updated, last)
        for router in [last, updated] { #expect(try await router.get(move.new) == "two") }
    }

    @Test("have what one set at the new place after a removal at the old one", arguments: [0, 1])
    func setAfterRemoval(_ index: Int) async throws {
        let (homes, move) = (try SyncHomes(), KeyMove())
        try await homes.older(move)
        let older = try await homes.start(index, move.old)
        try await older.remove(move.old)
        try await older.sync()
        // The other device had a value until the removal comes, which is forgotten at once at the new place: nobody
        // else knows the key there.
        let updated = try await homes.start(1 - index, move.new)
        #expect(try await updated.get(move.new) == "one")
        try await updated.sync()
        await #expect(throws: StorageError.notFound) { try await updated.get(move.new) }
        let later = try await homes.start(index, move.new)
        try await later.sync()
        try await later.set("two", for: move.new)
        try await later.sync()
        let again = try await homes.start(1 - index, move.new)
        try await again.sync()
        #expect(try await again.get(move.new) == "two")
        try await SyncHomes.settle(later, again)
        for router in [later, again] { #expect(try await router.get(move.new) == "two") }
    }

    @Test("have what one set after a removal at the new place that all know and sync has forgotten", arguments: [0, 1])
    func setAfterForgottenRemoval(_ index: Int) async throws {
        let (homes, move) = (try SyncHomes(), KeyMove())
        try await homes.older(move)
        let (updated, other) = (try await homes.start(index, move.new), try await homes.start(1 - index, move.new))
        try await SyncHomes.settle(updated, other)
        try await updated.remove(move.new)
        try await SyncHomes.settle(updated, other)
        try await other.set("two", for: move.new)
        // The one that has removed it starts again, and syncs before the new value comes.
        let again = try await homes.start(index, move.new)
        try await again.sync()
        try await SyncHomes.settle(other, again)
        for router in [again, other] { #expect(try await router.get(move.new) == "two") }
    }

    @Test(
        "have what one set after a removal that another published only at the key's next place, where it is no more",
        arguments: [0, 1], [true, false])
    func returnedAfterRemoval(_ index: Int, _ isForgotten: Bool) async throws {
        let (homes, move) = (try SyncHomes(), KeyMove())
        try await homes.older(move)
        try await homes.start(index, move.old).remove(move.old)
        let other = try await homes.start(1 - index, move.new)
        #expect(try await other.get(move.new) == "one")
        try await other.sync()
        let updated = try await homes.start(index, move.new)
        try await updated.sync()
        if isForgotten { try await SyncHomes.settle(other, updated) } else { try await other.sync() }
        await #expect(throws: StorageError.notFound) { try await other.get(move.new) }
        try await other.set("two", for: move.new)
        try await other.sync()
        let third = try await homes.start(index, move.old)
        try await third.sync()
        #expect(try await third.get(move.old) == "two")
        #expect(try await third.syncGroup.conflicts().values.isEmpty)
    }
}
