import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("Watching a SQLite database")
struct WatchTests {
    @Test("this process's changes are reported by name, and not again as another process's")
    func own() throws {
        let store = try BuiltStore()
        let told = Recorder<String?>()
        let watch = try store.store.watch(store.place, prefix: "in/") { told.add($0) }
        try store.set("in/a", Data([1]))
        try store.set("out", Data([1]))
        #expect(told.all == ["in/a"])
        // Another store on the same file counts as another process, whose changes are found by a query once a second:
        // when that one is reported, all earlier ones would have been.
        let other = try BuiltStore(in: store.folder)
        #expect(told.all == ["in/a"])
        try other.set("in/b", Data([1]))
        #expect(told.take { $0 == nil } == ["in/a", nil])
        store.store.unwatch(watch)
    }

    @Test("a database that another process creates is noticed")
    func made() throws {
        let folder = try TemporaryFolder()
        let (store, other) = (try BuiltStore(in: folder), try BuiltStore(in: folder))
        let told = Recorder<String?>()
        let watch = try store.store.watch(store.place) { told.add($0) }
        try other.set("name", Data([1]))
        #expect(told.take { $0 == nil } == [nil])
        store.store.unwatch(watch)
    }
}
