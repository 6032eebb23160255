import Foundation
import LocalDataAPI
import Synchronization
import TestSupport
import Testing

@testable import LocalDataHost

@Suite("A device whose folders or values were copied", .timeLimit(.minutes(3))) struct MovedDeviceTests {
    private let key = MigrationHome.synced("name", .custom(name: "rows"))

    @Test("does not sync on another machine, where it can become a new device")
    func otherMachine() async throws {
        let homes = try SyncHomes(3)
        func router(_ index: Int, on machine: String?) async throws -> StorageRouter {
            let router = try await homes.router(index, [.key(key)])
            router.state.withLock { $0.machine = { machine } }
            return router
        }
        let first = try await router(0, on: "a")
        try await first.syncGroup.create(named: "first")
        try await first.set("value", for: key)
        try await first.sync()
        let second = try await router(1, on: "b")
        try await second.syncGroup.join(try await first.syncGroup.invite().code, named: "second")
        // The folders of the first device, on another machine.
        let copy = homes.homes[2].home
        for name in try FileManager.default.contentsOfDirectory(atPath: homes.homes[0].home.folder) {
            try? FileManager.default.removeItem(atPath: "\(copy.folder)/\(name)")
            try FileManager.default.copyItem(
                atPath: "\(homes.homes[0].home.folder)/\(name)", toPath: "\(copy.folder)/\(name)")
        }
        let clone = try await router(2, on: "c")
        for _ in 0..<2 {
            let error = await #expect(throws: StorageError.self) { try await clone.sync() }
            #expect(error?.code == .permissionDenied && error?.message.contains("'first'") == true)
        }
        #expect(try await clone.get(key) == "value")
        try await clone.syncGroup.leave()
        try await second.sync()
        #expect(try await second.syncGroup.members().map(\.name) == ["first", "second"])
        try await clone.syncGroup.join(try await second.syncGroup.invite().code, named: "clone")
        try await clone.set("of the clone", for: key)
        for router in [clone, first, second, clone, first] { try await router.sync() }
        #expect(try await first.get(key) == "of the clone")
        #expect(try await second.syncGroup.members().map(\.name) == ["first", "second", "clone"])
        // The same machine, and a machine without an id.
        for machine in ["a", nil] { #expect(try await router(0, on: machine).sync().members == 3) }
    }

    /// A router of the first device whose domain `rows` another store serves.
    private func moved(_ homes: SyncHomes) async throws -> StorageRouter {
        let router = try await homes.router(0, [.key(key)])
        try await router.configure("domains.rows", "file")
        return router
    }

    @Test("syncs values that were copied to another store as the same values", arguments: [false, true])
    func copied(moving: Bool) async throws {
        let homes = try SyncHomes()
        let (first, second) = try await homes.pair([.key(key)])
        try await first.set("value", for: key)
        try await first.sync()
        try await second.sync()
        let report = try await first.stores.copy("rows", to: "file", domains: ["rows"], moving: moving)
        #expect(report.differences.isEmpty && report.failures.isEmpty)
        for router in [try await moved(homes), try await moved(homes)] {
            #expect(try await router.sync().pending == 0)
            #expect(try await second.sync().changed.isEmpty)
            #expect(try await router.get(key) == "value")
        }
        let later = try await moved(homes)
        try await second.set("later", for: key)
        try await second.sync()
        #expect(try await later.sync().changed == ["rows/name"])
        try await later.remove(key)
        for router in [later, second, later] { try await router.sync() }
        #expect(try await !second.exists(key))
        #expect(try await moved(homes).sync().pending == 0)
    }

    @Test("removes nothing on other devices when a store without the values takes over")
    func lacking() async throws {
        let homes = try SyncHomes()
        let (first, second) = try await homes.pair([.key(key)])
        try await first.set("value", for: key)
        try await first.sync()
        try await second.sync()
        let error = await #expect(throws: StorageError.self) { try await moved(homes).sync() }
        #expect(error?.code == .invalidConfiguration && error?.message.contains("'rows/name'") == true)
        #expect(error?.hint == "copy what is there: ld-host store copy rows file --domain rows")
        try await second.sync()
        #expect(try await second.get(key) == "value")
        _ = try await first.stores.copy("rows", to: "file", domains: ["rows"])
        #expect(try await moved(homes).sync().pending == 0)
        try await second.sync()
        #expect(try await second.get(key) == "value")
    }

    @Test("replaces no later values with the older ones of a store that takes over")
    func older() async throws {
        let homes = try SyncHomes()
        try await moved(homes).set("older", for: key)
        let (first, second) = try await homes.pair([.key(key)])
        try await first.set("value", for: key)
        try await first.sync()
        try await second.sync()
        let error = await #expect(throws: StorageError.self) { try await moved(homes).sync() }
        #expect(
            error?.code == .invalidConfiguration && error?.message.contains("is older than in store 'rows'") == true)
        #expect(
            error?.hint
                == "copy what is later there: ld-host store copy rows file --domain rows; first see what differs: "
                + "ld-host store copy rows file --domain rows --plan")
        try await second.sync()
        #expect(try await second.get(key) == "value")
        // What is written there since counts.
        try await moved(homes).set("later", for: key)
        #expect(try await moved(homes).sync().pending == 0)
        try await second.sync()
        #expect(try await second.get(key) == "later")
    }
}
