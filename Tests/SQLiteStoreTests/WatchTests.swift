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
        #expect(told.take { $0 == "in/b" } == ["in/a", "in/b"])
        store.store.unwatch(watch)
    }

    @Test("what another process sets, replaces and removes is reported by name")
    func others() throws {
        let store = try BuiltStore()
        for name in ["in/kept", "in/replaced", "in/removed", "out"] { try store.set(name, Data([1])) }
        let told = Recorder<String?>()
        let watch = try store.store.watch(store.place, prefix: "in/") { told.add($0) }
        let other = try BuiltStore(in: store.folder)
        for name in ["in/set", "in/replaced", "out"] { try other.set(name, Data([2])) }
        _ = try other.remove("in/removed")
        let names = Set(["in/set", "in/replaced", "in/removed"])
        var all: Set<String?> = []
        while !all.isSuperset(of: names) { all.formUnion(try #require(told.take { $0 != "none" })) }
        #expect(all == names)
        try other.set("in/last", Data([3]))
        #expect(told.take { $0 == "in/last" } == ["in/last"])
        store.store.unwatch(watch)
    }

    @Test("of more values than are compared, it is reported that some may have changed")
    func many() throws {
        let store = try BuiltStore()
        try store.set("in/1", Data([1]))
        try store.run(
            """
            WITH RECURSIVE number(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM number WHERE n < 65537)
            INSERT INTO value (place, name, version, modified, size, content)
            SELECT place, 'in/' || n, n, modified, size, content FROM value, number WHERE name = 'in/1'
            """)
        let told = Recorder<String?>()
        let watch = try store.store.watch(store.place, prefix: "in/") { told.add($0) }
        let other = try BuiltStore(in: store.folder)
        try other.set("in/1", Data([2]))
        #expect(told.take { $0 == nil } == [nil])
        store.store.unwatch(watch)
    }

    @Test("a database that another process creates is noticed")
    func made() throws {
        let folder = try TemporaryFolder()
        let (store, other) = (try BuiltStore(in: folder), try BuiltStore(in: folder))
        let told = Recorder<String?>()
        let watch = try store.store.watch(store.place) { told.add($0) }
        try other.set("name", Data([1]))
        #expect(told.take { $0 == "name" } == ["name"])
        store.store.unwatch(watch)
    }
}
