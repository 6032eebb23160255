import ByteCoding
import Foundation
import LocalDataAPI
import Testing

@testable import HostSync
@testable import LocalDataHost

/// The encodings of the data that sync publishes and keeps.
struct SyncCodingTests {
    private static let one = DeviceID(high: 1, low: 2)
    private static let other = DeviceID(high: .max, low: 0)
    private static let version = SyncVersion(time: 1_700_000_000_000 << 16 | 7, author: one)
    private static let history = SyncHistory([version, SyncVersion(time: 5, author: other)])

    private static let samples: [SyncContent] = {
        var status = SyncStatus()
        (status.counter, status.ended, status.waiting, status.isJoining) = (9, 3, 8, true)
        status.records.add(SyncHash(high: 1, low: 2))
        status.acknowledged = [one: 4, other: 5]
        status.known = [one: SyncStatus.Known(status: 6, taken: 7), other: SyncStatus.Known(status: 0, taken: 0)]
        let attributes = ValueAttributes(
            contentType: "text/plain", serializer: "text", versionTag: "", owner: "tests", expires: -1)
        return [
            SyncContent(
                counter: 1, .value(version, history, address: "userDefaults/k", attributes, Data([0, 1, 255]))),
            SyncContent(counter: 2, .value(version, history, address: "userDefaults/ü", ValueAttributes(), Data())),
            SyncContent(counter: .max, .removal(version, history, address: "keychain:a%2Fb/k")),
            SyncContent(counter: 4, .release), SyncContent(counter: 5, .status(status)),
        ]
    }()

    private static let sampleEntry: SyncEntry = {
        var entry = SyncEntry(address: "userDefaults/k")
        entry.state = SyncEntry.State(
            version: version, history: history, hash: SyncHash(bytes: Array(0..<16)), isShared: true)
        entry.pending = SyncEntry.State(version: version, history: SyncHistory([version]), hash: nil)
        (entry.isHeld, entry.isFormer, entry.changed) = (true, true, 6)
        entry.published = [
            one: SyncEntry.Published(counter: 3, kind: .value, version: version),
            other: SyncEntry.Published(counter: 4, kind: .release, version: version),
        ]
        entry.lost = [one: 8]
        return entry
    }()

    @Test("contents come back unchanged", arguments: samples)
    func contents(_ content: SyncContent) { #expect(SyncContent(content.encoded()) == content) }

    @Test("entries come back unchanged")
    func entries() {
        #expect(SyncEntry(Self.sampleEntry.encoded()) == Self.sampleEntry)
        #expect(SyncEntry(SyncEntry(address: "a/b").encoded()) == SyncEntry(address: "a/b"))
        var expiring = Self.sampleEntry
        expiring.state?.expires = 1
        expiring.pending?.expires = .max
        #expect(SyncEntry(expiring.encoded()) == expiring)
    }

    @Test("progress comes back unchanged", arguments: [nil, Data(), Data([1, 2])])
    func progress(_ position: Data?) {
        var progress = SyncProgress()
        (progress.position, progress.isJoining, progress.counter, progress.epoch) = (position, false, 12, 3)
        progress.writers[Self.one] = SyncProgress.Writer(status: SyncStatus(), statusCounter: 4, taken: 5)
        progress.writers[Self.other] = SyncProgress.Writer()
        progress.gaps = [1...2, 7...9]
        (progress.isRestored, progress.forgotten) = (true, 10)
        #expect(SyncProgress(progress.encoded()) == progress)
    }

    @Test("a truncated content, or one of another version, is refused", arguments: samples)
    func cut(_ content: SyncContent) {
        let data = content.encoded()
        // Truncating a value leaves no trace, which is why it is sealed.
        if case .value = content.body {
        } else {
            for count in 0..<data.count { #expect(SyncContent(data.prefix(count)) == nil) }
        }
        #expect(SyncContent(Data([2]) + data.dropFirst()) == nil)
    }

    @Test("a damaged entry is refused")
    func damaged() {
        let data = Self.sampleEntry.encoded()
        for count in 0..<data.count { #expect(SyncEntry(data.prefix(count)) == nil) }
        for index in data.indices {
            var changed = data
            changed[index] ^= 1
            #expect(SyncEntry(changed) == nil)
        }
    }

    @Test("any bytes are decoded or refused")
    func anyBytes() {
        var random = SeededRandom(1)
        for _ in 0..<20_000 {
            var bytes = Self.samples.randomElement(using: &random)!.encoded()
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if let content = SyncContent(bytes) { #expect(SyncContent(content.encoded()) == content) }
        }
    }

    @Test("a history includes the versions that it has seen, and values from before a device joined count separately")
    func histories() {
        let before = SyncVersion(time: 5, author: Self.one)
        var history = SyncHistory([Self.version])
        #expect(history.includes(Self.version) && !history.includes(before) && before.isFromBefore)
        history.add(before)
        #expect(history.includes(before) && !history.includes(SyncVersion(time: 6, author: Self.one)))
        #expect(!history.includes(SyncVersion(time: Self.version.time + 1, author: Self.one)))
        for number in 0..<300 {
            history.add(SyncVersion(time: 1 << 50, author: DeviceID(high: 9, low: UInt64(number))))
        }
        #expect(history.versions.count == 256 && history.includes(Self.version) && !history.includes(before))
    }

    @Test("the clock is later than all times that it has seen, and no wall clock or other device brings it to its end")
    func clock() {
        var clock = HybridClock { 1000 }
        #expect(clock.tick() == 1000 << 16)
        #expect(clock.tick() == 1000 << 16 + 1)
        clock.observe(2000 << 16)
        #expect(clock.tick() == 2000 << 16 + 1)
        clock.observe(.max)
        let far = clock.tick()
        #expect(far < clock.tick() && clock.latest < HybridClock.latest)
        #expect(clock.time(ofChangeAt: nil, after: HybridClock.latest - 1) == HybridClock.latest)
        var fast = HybridClock { .max >> 16 }
        #expect(fast.tick() < fast.tick() && fast.latest < far)
    }
}
