import Foundation
import LocalDataAPI
import Synchronization
import TestSupport
import Testing

@testable import HostGround
@testable import HostMigration
@testable import HostPlugins
@testable import HostStores
@testable import HostSync
@testable import HostTransfer
@testable import LocalDataHost

@Suite("Devices of a group, through the router") struct SyncGroupTests {
    private let key = MigrationHome.synced("name", .custom(name: "rows"))

    @Test("without a transport or a group, an app's start changes nothing")
    func withoutGroup() async throws {
        let homes = try SyncHomes()
        let plain = try homes.homes[0].router()
        #expect(await plain.syncRegisteredKeysIfNeeded() == nil)
        await #expect(throws: StorageError.invalidConfiguration) { try await plain.sync() }
        let router = try await homes.router(0, [.key(key)])
        #expect(await router.syncRegisteredKeysIfNeeded() == nil)
        await #expect(throws: StorageError.notFound) { try await router.sync() }
        try await router.syncGroup.create(named: "first")
        #expect(await router.syncRegisteredKeysIfNeeded()?.members == 1)
        await #expect(throws: StorageError.busy) { try await router.syncGroup.create() }
    }

    @Test("keys of a group without the record of it are believed only after a person has confirmed them")
    func plantedMembership() async throws {
        let homes = try SyncHomes()
        let attacker = try await homes.router(0, [.key(key)])
        try await attacker.syncGroup.create(named: "attacker")
        try await attacker.sync()
        let before = try await homes.router(1, [.key(key)])
        try await before.set("private", for: key)
        // What another program could store as one value of the keychain.
        let keys = try #require(try await attacker.snapshot().rings.value("LocalData", "sync").value.get())
        try await before.snapshot().rings.value("LocalData", "sync").value.set(keys, attributes: nil)
        let victim = try await homes.router(1, [.key(key)])
        let calls: [@Sendable () async throws -> Void] = [
            { try await victim.sync() }, { try await victim.sync(fromStart: true) },
            { try await victim.syncGroup.leave() }, { _ = try await victim.syncGroup.invite() },
        ]
        for call in calls {
            let error = try await StorageError.of(call)
            #expect(error.code == .securityApplicationFailed, "\(error)")
            #expect(error.hint.contains("sync pull --recover") && error.hint.contains("sync leave --offline"))
        }
        #expect(await victim.syncRegisteredKeysIfNeeded() == nil)
        try await attacker.sync()
        await #expect(throws: StorageError.notFound) { try await attacker.get(key) }
        try await victim.syncGroup.leave(offline: true)
        await #expect(throws: StorageError.notFound) { try await victim.sync() }
        #expect(try await victim.get(key) == "private")
    }

    @Test("a code opens one invitation once, and a mistyped code is reported as such")
    func invitations() async throws {
        let homes = try SyncHomes(3)
        let (first, second) = try await homes.pair([.key(key)])
        let third = try await homes.router(2, [.key(key)])
        let code = try await second.syncGroup.invite().code
        await #expect(throws: StorageError.invalidOptions) { try await third.syncGroup.join(String(code.dropLast())) }
        try await third.syncGroup.join(code.lowercased(), named: "third")
        try await first.sync()
        #expect(try await first.syncGroup.members().map(\.name) == ["first", "second", "third"])
        #expect(try await first.syncGroup.members().map(\.isThis) == [true, false, false])
        await #expect(throws: StorageError.busy) { try await third.syncGroup.join(code) }
        try await third.syncGroup.leave()
        await #expect(throws: StorageError.cannotOpen) { try await third.syncGroup.join(code) }
    }

    @Test("a removed device reads no later records; with a new invitation it takes part again")
    func removal() async throws {
        let homes = try SyncHomes(3)
        let (first, second) = try await homes.pair([.key(key)])
        try await first.set("before", for: key)
        try await first.sync()
        try await second.sync()
        await #expect(throws: StorageError.notFound) { try await first.syncGroup.remove("nobody") }
        try await first.syncGroup.remove("second")
        try await first.set("after", for: key)
        try await first.sync()
        await #expect(throws: StorageError.permissionDenied) { try await second.sync() }
        await #expect(throws: StorageError.permissionDenied) { try await second.syncGroup.report() }
        #expect(try await second.get(key) == "before")
        try await second.set("of a removed one", for: key)
        await #expect(throws: StorageError.permissionDenied) { try await second.sync() }
        try await first.sync()
        #expect(try await first.get(key) == "after")
        try await second.syncGroup.leave()
        try await second.syncGroup.join(try await first.syncGroup.invite().code, named: "second")
        #expect(try await second.get(key) == "after")
        #expect(try await second.syncGroup.conflicts().values.count == 1)
        #expect(try await first.sync().members == 2)
    }

    @Test("the transport carries no readable name or value")
    func sealed() async throws {
        let homes = try SyncHomes()
        let (first, _) = try await homes.pair([.key(key)])
        try await first.set("a value to look for", for: key)
        try await first.sync()
        let files = try homes.shared.files()
        #expect(!files.isEmpty)
        for path in files {
            let bytes = try Data(contentsOf: URL(filePath: path.hasPrefix("/") ? path : "\(homes.shared.path)/\(path)"))
            for text in ["a value to look for", "rows", "name", "first", "second"] {
                #expect(bytes.range(of: Data(text.utf8)) == nil, "\(text) is in \(path)")
            }
        }
    }

    @Test("a device that is away for longer than the setting is forgotten, and restores no removed value")
    func absence() async throws {
        let homes = try SyncHomes(3)
        let late = MigrationHome.synced("late", .fileSystem())
        let (first, second) = try await homes.pair([.key(key), .key(late)])
        let third = try await homes.router(2, [.key(key), .key(late)])
        try await third.syncGroup.join(try await first.syncGroup.invite().code, named: "third")
        try await first.set("value", for: key)
        for router in [first, second, third] { try await router.sync() }
        try await first.remove(key)
        let start = UInt64(Date().timeIntervalSince1970 * 1000)
        for day in 1...182 as ClosedRange<UInt64> {
            for router in [first, second] {
                router.state.withLock { $0.clock = { start + day * 86_400_000 } }
                // The router's device keeps its clock, so discard it.
                router.state.withLock { $0.device = nil }
                try await router.sync()
            }
            if day == 170 { #expect(try await first.syncGroup.members().count == 3) }
        }
        #expect(try await first.syncGroup.members().map(\.name) == ["first", "second", "third"])
        #expect(try await first.syncGroup.members().map(\.isForgotten) == [false, false, true])
        let error = await #expect(throws: StorageError.self) { try await third.sync() }
        #expect(error?.code == .permissionDenied && error?.message.contains("away for so long") == true)
        try await third.set("unsynced", for: late)
        try await third.syncGroup.join(try await second.syncGroup.invite().code, named: "third")
        for router in [first, third, second, first, third] { try await router.sync() }
        #expect(try await !third.exists(key))
        #expect(try await !first.exists(key))
        #expect(try await first.get(late) == "unsynced")
    }

    @Test("a device that was away for too long has no key for what comes later, and can be removed")
    func removedAbsent() async throws {
        let homes = try SyncHomes()
        let (first, second) = try await homes.pair([.key(key)])
        let start = UInt64(Date().timeIntervalSince1970 * 1000)
        for day in 1...182 as ClosedRange<UInt64> {
            first.state.withLock {
                $0.clock = { start + day * 86_400_000 }
                $0.device = nil
            }
            try await first.sync()
        }
        try await first.set("later", for: key)
        #expect(try await first.sync().members == 1)
        await #expect(throws: StorageError.permissionDenied) { try await second.sync() }
        #expect(try await !second.exists(key))
        try await first.syncGroup.remove("second")
        #expect(try await first.syncGroup.members().map(\.name) == ["first"])
        // It reads the log no more, and takes part again as a new device.
        await #expect(throws: StorageError.permissionDenied) { try await second.sync() }
        #expect(try await !second.exists(key))
        try await second.syncGroup.join(try await first.syncGroup.invite().code, named: "again")
        #expect(try await second.get(key) == "later")
        try await first.sync()
        #expect(try await first.syncGroup.members().map(\.name) == ["first", "again"])
    }

    @Test("a clock that jumps ahead by years makes nobody absent")
    func jumps() async throws {
        let homes = try SyncHomes()
        let (first, _) = try await homes.pair([.key(key)])
        let start = UInt64(Date().timeIntervalSince1970 * 1000)
        for year in 1...5 as ClosedRange<UInt64> {
            first.state.withLock {
                $0.clock = { start + year * 365 * 86_400_000 }
                $0.device = nil
            }
            try await first.sync()
        }
        #expect(try await first.syncGroup.members().count == 2)
    }

    @Test("a new device cannot tell an old state of the whole from the latest, and has the latest once that is carried")
    func oldStateOfTheWhole() async throws {
        let homes = try SyncHomes(3)
        let (first, second) = try await homes.pair([.key(key)])
        try await first.set("one", for: key)
        let code = try await first.syncGroup.invite().code
        try await SyncHomes.settle(first, second)
        let old = try TemporaryFolder()
        try FileManager.default.removeItem(atPath: old.path)
        try FileManager.default.copyItem(atPath: homes.shared.path, toPath: old.path)
        try await first.set("two", for: key)
        try await SyncHomes.settle(first, second)
        // The carrier gives it what it had before.
        let third = try await homes.router(2, [.key(key)], in: old.path)
        try await third.syncGroup.join(code, named: "third")
        try await third.sync()
        #expect(try await third.get(key) == "one")
        #expect(try await third.syncGroup.report().isComplete)
        let later = try await homes.router(2, [.key(key)])
        try await SyncHomes.settle(later, first, second)
        for router in [first, second, later] { #expect(try await router.get(key) == "two") }
    }

    @Test("a folder that lost everything is refilled by its devices, and a new device can join")
    func wiped() async throws {
        let homes = try SyncHomes(3)
        let (first, second) = try await homes.pair([.key(key)])
        try await first.set("value", for: key)
        try await first.sync()
        try await second.sync()
        for name in try homes.shared.entries() {
            try FileManager.default.removeItem(atPath: "\(homes.shared.path)/\(name)")
        }
        for _ in 0..<2 {
            try await first.sync()
            try await second.sync()
        }
        let third = try await homes.router(2, [.key(key)])
        try await third.syncGroup.join(try await first.syncGroup.invite().code, named: "third")
        #expect(try await third.get(key) == "value")
    }

    @Test("a catalog is refused if a key that must stay on the device has a sync policy")
    func refusals() async throws {
        let homes = try SyncHomes()
        let router = try await homes.router(0, [])
        func key(_ security: SecurityPolicy, _ availability: PlatformAvailability = .all) -> AnyStorageKey {
            .key(
                StorageKey<String>(
                    name: "k", domain: .keychain(service: "s"), security: security, owner: "o", description: "d",
                    availability: availability, syncPolicy: .manual))
        }
        let refused: [AnyStorageKey] = [
            key(.keychain(accessibility: .whenUnlockedThisDeviceOnly)), key(.recommended, .phoneOnly),
            key(.recommended, .watchOnly), key(.encrypted(.external(source: KeyMaterialSource(id: "own")))),
        ]
        for key in refused {
            let error = await #expect(throws: StorageError.self) {
                try await router.registerCatalog(SyncHomes.Keys(allKeys: [key]))
            }
            #expect(error?.code == .securityApplicationFailed && error?.message.contains("keychain:s/k") == true)
        }
        try await router.registerCatalog(SyncHomes.Keys(allKeys: [key(.recommended, .phoneWithWatchSync)]))
    }

    @Test("values that are only in memory are not synced")
    func memory() async throws {
        let homes = try SyncHomes()
        let own = MigrationHome.synced("name", .custom(name: "passing"))
        let router = try await homes.router(0, [.key(own)])
        try await router.configure("domains.passing", "memory")
        let error = await #expect(throws: StorageError.self) { try await router.syncGroup.create() }
        #expect(error?.code == .unsupported && error?.message.contains("'memory'") == true)
    }
}
