import ByteCoding
import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostGround
@testable import HostPlugins
@testable import HostStores
@testable import HostSync
@testable import HostTransfer
@testable import LocalDataHost

/// The data that sync keeps on a device, as bytes that a released program may have written: every later version must
/// read it.
struct StoredFormTests {
    private static let one = DeviceID(high: 1, low: 2)
    private static let version = SyncVersion(time: 1_700_000_000_000 << 16 | 7, author: one)

    private static var entry: SyncEntry {
        var entry = SyncEntry(address: "userDefaults/k")
        entry.state = SyncEntry.State(
            version: version, history: SyncHistory([version]), hash: SyncHash(bytes: Array(0..<16)), isShared: true)
        (entry.isRequested, entry.changed) = (true, 6)
        entry.published = [one: SyncEntry.Published(counter: 3, kind: .value, version: version)]
        return entry
    }

    private static var progress: SyncProgress {
        var progress = SyncProgress()
        (progress.position, progress.isJoining, progress.counter, progress.epoch) = (Data([1, 2]), false, 12, 3)
        progress.writers[one] = SyncProgress.Writer(statusCounter: 4, taken: 5)
        progress.gaps = [7...9]
        return progress
    }

    private static let frozenEntry =
        "0123000e7573657244656661756c74732f6b018bcfe568000007000000000000000100000000000000020001018bcfe5"
        + "680000070000000000000001000000000000000201000102030405060708090a0b0c0d0e0f0000000000000006000100"
        + "000000000000010000000000000002000000000000000301018bcfe56800000700000000000000010000000000000002"
        + "10b7fb2ebf41928e"
    private static let frozenExpiry =
        "0223000e7573657244656661756c74732f6b018bcfe568000007000000000000000100000000000000020001018bcfe5"
        + "68000007000000000000000100000000000000020317979cfe362a0000000102030405060708090a0b0c0d0e0f000000"
        + "0000000006000100000000000000010000000000000002000000000000000301018bcfe5680000070000000000000001"
        + "00000000000000025f7b7fbcb0b7eeb7"
    private static let frozenPassed =
        "03400003612f62018bcfe5680000070000000000000001000000000000000200000000000000000000e62eefadf93ad203"
    private static let frozenLosses =
        "01000003612f62000000000000000000000001000000000000000100000000000000020000000000000009053ad3751fd156e8"
    private static let frozenProgress =
        "01000001000000000000000c000000000000000000000000000000000000000000000000000000000000000000000000"
        + "000000000000000000000003000000000000000000010000000000000001000000000000000200000000000000040000"
        + "000000000005000000000001000000000000000700000000000000090102f8f5a116fbea3b71"
    private static let frozenStanding = "010300046465736bb903925dd9f5318c"

    private func hex(_ data: Data) -> String {
        data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private func bytes(_ hex: String) -> Data {
        var rest = Substring(hex)
        var data = Data()
        while let byte = UInt8(rest.prefix(2), radix: 16) {
            data.append(byte)
            rest = rest.dropFirst(2)
        }
        return data
    }

    @Test("has stayed unchanged")
    func frozen() throws {
        #expect(hex(Self.entry.encoded()) == Self.frozenEntry)
        #expect(SyncEntry(bytes(Self.frozenEntry)) == Self.entry)
        var expiring = Self.entry
        expiring.state?.expires = 1_700_000_000_000_000_000
        #expect(hex(expiring.encoded()) == Self.frozenExpiry)
        #expect(SyncEntry(bytes(Self.frozenExpiry)) == expiring)
        var passed = SyncEntry(address: "a/b")
        (passed.isParked, passed.passed) = (true, Self.entry.state?.version)
        #expect(hex(passed.encoded()) == Self.frozenPassed)
        #expect(SyncEntry(bytes(Self.frozenPassed)) == passed)
        var losing = SyncEntry(address: "a/b")
        losing.lost = [Self.one: 9]
        #expect(hex(losing.encoded()) == Self.frozenLosses)
        #expect(SyncEntry(bytes(Self.frozenLosses)) == losing)
        #expect(hex(Self.progress.encoded()) == Self.frozenProgress)
        #expect(SyncProgress(bytes(Self.frozenProgress)) == Self.progress)
        var passing = Self.progress
        (passing.hasPassedOver, passing.isRestored) = (true, true)
        #expect(hex(passing.encoded()).hasPrefix("01000301"))
        #expect(SyncProgress(passing.encoded()) == passing)
        #expect(hex(SyncStanding.follows("desk").encoded()) == Self.frozenStanding)
        #expect(try SyncStanding(bytes(Self.frozenStanding)) == .follows("desk"))
        for standing in [SyncStanding.leads, .joins, .nobodyLeads, .follows("")] {
            #expect(try SyncStanding(standing.encoded()) == standing)
        }
    }

    /// Valid bytes of a version that no program writes yet.
    private func later(_ data: Data) -> Data {
        var writer = ByteWriter(.bigEndian, [4])
        writer.add(data.dropFirst().dropLast(8))
        writer.addHash()
        return Data(writer.bytes)
    }

    @Test("of a later program is refused as such, and damaged data as damaged")
    func refused() async throws {
        let homes = try SyncHomes()
        let key = MigrationHome.synced("name")
        let (first, _) = try await homes.pair([.key(key)])
        try await first.set("value", for: key)
        try await first.sync()
        let forms = [
            ("entry ", "sync's record of a value"), ("progress", "sync's record of its progress"), ("log", "members"),
        ]
        for (prefix, what) in forms {
            let device = try await homes.router(0, [.key(key)]).syncDevice()
            var names: [String] = []
            try device.home.store.forEachName(in: HostSettings.syncNamespace, prefix: prefix) {
                names.append($0)
                return true
            }
            let name = try #require(names.first)
            let place = try ResolvedKey(
                hostsOwn: StorageAddress(HostSettings.syncNamespace, name: name), in: device.home, [], nil)
            let kept = try #require(try place.valueNow())
            for (bytes, code) in [(later(kept), StorageError.Code.unsupported), (Data("x".utf8) + kept, .corrupt)] {
                try place.setNow(bytes)
                let error = await #expect(throws: StorageError.self) {
                    try await homes.router(0, [.key(key)]).sync()
                }
                #expect(error?.code == code, "\(name): \(error?.message ?? "")")
                #expect(error?.message.contains(what) == true)
                #expect(try place.valueNow() == bytes)
            }
            try place.setNow(kept)
            #expect(try await homes.router(0, [.key(key)]).sync().members == 2)
        }
    }
}
