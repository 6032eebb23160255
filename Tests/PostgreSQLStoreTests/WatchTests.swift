import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("Watching a PostgreSQL database")
struct WatchTests {
    @Test(
        "this store's changes are reported by name, and those of others soon",
        arguments: ["", "session", "transaction"])
    func changes(_ pooler: String) throws {
        let server = try PostgreSQLServer.poolers[pooler]?.get() ?? PostgreSQLServer.shared.get()
        let store = try OpenStore(server.uri())
        let told = Recorder<String?>()
        let watch = try store.store.watch(store.place, prefix: "in/") { told.add($0) }
        defer { store.store.unwatch(watch) }
        try store.set("in/a", "1")
        try store.set("out", "1")
        #expect(told.all.compactMap { $0 } == ["in/a"])
        let other = try OpenStore(server.uri(), schema: store.schema)
        for index in 0..<3 {
            try other.set("in/b", "\(index)")
            #expect(told.take { $0 == nil } != nil)
        }
    }

    @Test("a change that commits long after its number was drawn is reported")
    func lateCommit() throws {
        let server = try PostgreSQLServer.shared.get()
        let store = try OpenStore(server.uri())
        try store.set("name", "old")
        let seen = Recorder<Bool>()
        let watch = try store.store.watch(store.place) { _ in seen.add((try? store.get("name")) == Data?.none) }
        defer { store.store.unwatch(watch) }
        let schema = store.schema
        // The number is drawn at once, and the removal is visible after more than a second.
        try server.run(
            "BEGIN; DELETE FROM \(schema).value; SELECT nextval('\(schema).change'); SELECT pg_sleep(2); COMMIT")
        #expect(seen.take { $0 } != nil)
    }

    @Test("a change during a lost connection is reported afterwards")
    func lostConnection() throws {
        let server = try PostgreSQLServer()
        let store = try OpenStore(server.uri())
        let other = try OpenStore(server.uri(), schema: store.schema)
        let told = Recorder<String?>()
        let watch = try store.store.watch(store.place) { told.add($0) }
        defer { store.store.unwatch(watch) }
        try other.set("name", "1")
        #expect(told.take { $0 == nil } != nil)
        try server.kill()
        try server.start()
        try other.set("name", "2")
        #expect(told.take { $0 == nil } != nil)
        try other.set("name", "3")
        #expect(told.take { $0 == nil } != nil)
    }

    @Test("a change that a standby receives is reported there, also after the standby has become the primary")
    func standby() throws {
        let primary = try PostgreSQLServer()
        let writer = try OpenStore(primary.uri())
        try writer.set("name", "1")
        let standby = try PostgreSQLServer(standbyOf: primary)
        let reader = try OpenStore(standby.uri(), schema: writer.schema)
        let told = Recorder<String?>()
        let watch = try reader.store.watch(reader.place) { told.add($0) }
        defer { reader.store.unwatch(watch) }
        for text in ["2", "3"] {
            try writer.set("name", text)
            while try reader.get("name") != Data(text.utf8) { _ = try #require(told.take { $0 == nil }) }
        }
        try primary.stop()
        try standby.promote()
        #expect(told.take { $0 == nil } != nil)
        let other = try OpenStore(standby.uri(), schema: writer.schema)
        try other.set("name", "4")
        while try reader.get("name") != Data("4".utf8) { _ = try #require(told.take { $0 == nil }) }
    }
}
