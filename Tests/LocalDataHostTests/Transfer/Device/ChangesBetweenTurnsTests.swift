import Foundation
import LocalDataAPI
import Testing

@testable import HostGround
@testable import HostSealing
@testable import HostSync
@testable import HostTransfer
@testable import LocalDataHost

/// A device notices a change at its next turn of sync, maybe days after another device's change.
@Suite("Values that change while sync does not run") struct ChangesBetweenTurnsTests {
    private static let key = MigrationHome.synced("name", .custom(name: "rows"))
    private let homes: SyncHomes

    init() throws { homes = try SyncHomes() }

    /// Two devices that have the same value, and do not sync.
    private func devices(with value: String) async throws -> (first: StorageRouter, second: StorageRouter) {
        let (first, second) = try await homes.pair([.key(Self.key)])
        try await first.set(value, for: Self.key)
        try await first.sync()
        try await second.sync()
        #expect(try await second.get(Self.key) == value)
        try await first.sync()
        return (first, second)
    }

    /// Two devices that had the same value until it expired, and have not synced since.
    private func devicesAfterExpiry() async throws -> (first: StorageRouter, second: StorageRouter) {
        let (first, second) = try await devices(with: "start")
        // On a busy machine, a value may expire on its way.
        for seconds in [4.0, 16, 64] {
            let end = Date(timeIntervalSinceNow: seconds)
            try await first.set("old", for: Self.key, expires: end)
            try await first.sync()
            try await second.sync()
            guard try await second.exists(Self.key) else { continue }
            try await Task.sleep(for: .seconds(max(0, end.timeIntervalSinceNow) + 0.1))
            return (first, second)
        }
        throw StorageError(.timedOut, "a value expires before it is synced")
    }

    private func settle(_ devices: (first: StorageRouter, second: StorageRouter)) async throws {
        for _ in 0..<3 {
            try await devices.first.sync()
            try await devices.second.sync()
        }
    }

    @Test("a value that one device renews stays, though the earlier one has expired on the other")
    func renewed() async throws {
        let devices = try await devicesAfterExpiry()
        try await devices.second.set("fresh", for: Self.key)
        try await devices.second.sync()
        try await settle(devices)
        for device in [devices.first, devices.second] {
            #expect(try await device.get(Self.key) == "fresh")
            #expect(try await device.syncGroup.conflicts().values.isEmpty)
            #expect(try await device.syncGroup.report().pending == 0)
        }
    }

    @Test("a value that has expired is absent everywhere, and a new one or a removal after it counts")
    func expired() async throws {
        let devices = try await devicesAfterExpiry()
        try await settle(devices)
        for device in [devices.first, devices.second] { #expect(try await !device.exists(Self.key)) }
        try await devices.first.set("new", for: Self.key)
        try await settle(devices)
        #expect(try await devices.second.get(Self.key) == "new")
        try await devices.second.remove(Self.key)
        try await settle(devices)
        #expect(try await !devices.first.exists(Self.key))
    }

    @Test("a value that is removed before it expires is removed everywhere")
    func removed() async throws {
        let devices = try await devices(with: "start")
        try await devices.first.set("old", for: Self.key, expires: Date(timeIntervalSinceNow: 3600))
        try await settle(devices)
        try await devices.first.remove(Self.key)
        try await settle(devices)
        #expect(try await !devices.second.exists(Self.key))
    }

    @Test("the value that was written later wins, whichever device syncs first", arguments: [true, false])
    func later(secondWritesLater: Bool) async throws {
        let devices = try await devices(with: "start")
        let (earlier, later) =
            secondWritesLater ? (devices.first, devices.second) : (devices.second, devices.first)
        try await earlier.set("earlier", for: Self.key)
        try await Task.sleep(for: .milliseconds(20))
        try await later.set("later", for: Self.key)
        try await later.sync()
        try await Task.sleep(for: .milliseconds(20))
        try await earlier.sync()
        try await settle(devices)
        for device in [devices.first, devices.second] { #expect(try await device.get(Self.key) == "later") }
        #expect(try await earlier.syncGroup.conflicts().values.count == 1)
    }

    @Test(
        "a change is refused where the same bytes were stored again, to expire later",
        arguments: [StorageDomain.fileSystem(), .custom(name: "rows")])
    func storedAgain(_ domain: StorageDomain) async throws {
        let key = MigrationHome.synced("name", domain)
        let (first, _) = try await homes.pair([.key(key)])
        try await first.set("same", for: key)
        try await first.sync()
        let device = try await first.syncDevice()
        let removal = try await device.turn { (turn) throws(StorageError) in
            guard let (name, entry) = turn.engine.entries.first else { throw StorageError(.notFound, "no entry") }
            var change = SyncChange(name: name, entry: entry)
            change.expected = try turn.engine.replica.read(entry.address)
            change.value = .remove
            return change
        }
        try await first.set("same", for: key, expires: Date(timeIntervalSinceNow: 3600))
        let refused = try await device.turn { (turn) throws(StorageError) in
            try turn.engine.replica.commit([removal], progress: nil)
        }
        #expect(refused == [0])
        #expect(try await first.get(key) == "same")
        #expect(try await first.expiry(of: key) != nil)
    }

    @Test(
        "a value with an attribute that no record can carry stays on its device", arguments: [65_534, 65_535, 65_536])
    func longAttribute(_ count: Int) async throws {
        let key: StorageKey<String> = StorageKey(
            name: "long", domain: .custom(name: "rows"), security: .none, owner: String(repeating: "o", count: count),
            description: "a key for tests", syncPolicy: .automaticSmall)
        let (first, second) = try await homes.pair([.key(key)])
        try await first.set("value", for: key)
        let report = try await first.sync()
        #expect(report.tooLarge.count == (count > 65_534 ? 1 : 0))
        try await second.sync()
        #expect(try await second.exists(key) == (count <= 65_534))
    }
}
