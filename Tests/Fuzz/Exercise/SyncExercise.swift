import ByteCoding
import FoundationEssentials
import LocalDataAPI
import ReaderExercise

@testable import HostSync
@testable import HostTransfer
@testable import LocalDataHost

/// The data that sync publishes and stores: contents of records, entries of keys, progress, the page of the group's
/// log, and the times since other devices were last seen.
enum SyncExercise {
    static func run(_ bytes: Data) throws {
        try checkContent(bytes)
        // Stored data ends with a hash, which mutations never get right.
        for data in [bytes, hashed(bytes)] {
            try checkEntry(data)
            try checkProgress(data)
            try checkPresence(data)
            try checkPage(data)
        }
    }

    private static func checkContent(_ bytes: Data) throws {
        guard let content = SyncContent(bytes) else { return }
        try require(SyncContent(content.encoded()) == content, "a content that was written is read as another one")
        switch content.body {
        case .value(let version, let history, _, _, _), .removal(let version, let history, _):
            try require(history.includes(version), "a version is not in its own history")
            try require(history.versions.count <= SyncHistory.mostVersions, "a history has too many versions")
            var clock = HybridClock { 0 }
            clock.observe(version.time)
            try require(clock.tick() <= HybridClock.latest, "a version moves the clock beyond the last time")
        case .release, .status: break
        }
    }

    private static func checkEntry(_ bytes: Data) throws {
        guard let entry = SyncEntry(bytes) else { return }
        try require(SyncEntry(entry.encoded()) == entry, "an entry that was written is read as another one")
        _ = entry.isEmpty
    }

    private static func checkProgress(_ bytes: Data) throws {
        guard var progress = SyncProgress(bytes) else { return }
        try require(SyncProgress(progress.encoded()) == progress, "progress that was written is read as another one")
        _ = progress.lastCounter
        progress.addGap(after: progress.lastCounter, before: .max)
    }

    private static func checkPresence(_ bytes: Data) throws {
        guard var presence = SyncPresence(bytes) else { return }
        try require(SyncPresence(presence.encoded()) == presence, "a presence that was written is read as another one")
        _ = presence.absent(after: 30)
        presence.update([DeviceID(high: 1, low: 2): 3], now: .max)
    }

    private static func checkPage(_ bytes: Data) throws {
        guard let page = try? SyncLogPage(bytes) else { return }
        let again = try SyncLogPage(page.encoded())
        try require(
            again.entries == page.entries && again.published == page.published && again.carried == page.carried,
            "a page that was written is read as another one")
    }

    private static func hashed(_ bytes: Data) -> Data {
        var writer = ByteWriter(.bigEndian, Array(bytes))
        writer.addHash()
        return Data(writer.bytes)
    }

    static let samples: [[UInt8]] = {
        let devices = [DeviceID(high: 1, low: 2), DeviceID(high: .max, low: 0)]
        let version = SyncVersion(time: 1_700_000_000_000 << 16 | 7, author: devices[0])
        let history = SyncHistory([version, SyncVersion(time: 5, author: devices[1])])
        var status = SyncStatus()
        (status.counter, status.ended, status.waiting, status.isJoining) = (9, 3, 8, true)
        status.records.add(SyncHash(high: 1, low: 2))
        status.acknowledged = [devices[0]: 4, devices[1]: 5]
        status.known = [devices[0]: SyncStatus.Known(status: 6, taken: 7)]
        let attributes = ValueAttributes(contentType: "text/plain", serializer: "text", versionTag: "", expires: -1)
        let bodies: [SyncContent.Body] = [
            .value(version, history, address: "userDefaults/ü", attributes, Data([0, 1, 255])),
            .removal(version, history, address: "keychain:a%2Fb/k"), .release, .status(status),
        ]
        var entry = SyncEntry(address: "userDefaults/k")
        entry.state = SyncEntry.State(
            version: version, history: history, hash: SyncHash(bytes: Array(0..<16)), isShared: true)
        entry.pending = SyncEntry.State(version: version, history: SyncHistory([version]), hash: nil)
        (entry.isHeld, entry.changed) = (true, 9)
        entry.published[devices[1]] = SyncEntry.Published(counter: 4, kind: .release, version: version)
        entry.lost[devices[0]] = 3
        var progress = SyncProgress()
        (progress.position, progress.counter, progress.epoch, progress.gaps) = (Data([1, 2]), 12, 3, [1...2, 7...9])
        progress.writers[devices[0]] = SyncProgress.Writer(status: status, statusCounter: 4, taken: 5)
        var presence = SyncPresence()
        for day in 1...3 { presence.update([devices[0]: 1, devices[1]: UInt64(day)], now: UInt64(day) * 86_400_000) }
        let page = SyncLogPage(
            entries: [Data([1, 0, 9]), Data()], published: ["log-0123456789abcdef"], carried: ["log-fedcba9876543210"])
        // Without the hash, which the exercise appends.
        let kept = [entry.encoded(), progress.encoded(), presence.encoded(), page.encoded()].flatMap {
            [$0, $0.dropLast(hashed(Data()).count)]
        }
        return (bodies.map { SyncContent(counter: 1, $0).encoded() } + kept).map { Array($0) }
    }()
}
