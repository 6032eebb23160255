internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// Sync of two devices compared with a C program that carries changes from one database to another: see
/// `Baselines/sync.c`, which also says what that program does not do.
struct SyncCost {
    let setting: Setting
    /// The URL of a NATS server that this run started; `nil` to leave those rows out.
    let server: String?
    private static let limit = 1.5

    func run() async throws {
        try await changes("shared folder", "folder", .folder, [])
        if let server { try await changes("NATS", "nats", .nats(server), [server]) }
        try await joining()
        try await growth()
    }

    // MARK: Changes, one by one and as a stream

    private func changes(
        _ what: String, _ name: String, _ carrier: SyncedDevices.Carrier, _ arguments: [String]
    ) async throws {
        let devices = SyncedDevices(setting, name, carrier, keys: 1000)
        let (first, second) = try await devices.pair()
        let arrivals = Arrivals(second)
        let syncing = [first, second].map { device in Task.detached { try await device.syncContinuously() } }
        let place = try Self.companionFolder(setting, name)
        let baseline = try Companion("\(setting.tools)/sync", [name, place] + arguments)
        var byte: UInt8 = 0
        var all: [Double] = []
        let singles = try await Comparison.rounds(15) {
            var times: [Double] = []
            for index in 0..<20 {
                byte &+= 1
                let start = Nanoseconds.now
                try await first.set(Data(repeating: byte, count: 128), for: devices.keys[index])
                await arrivals.wait(1)
                times.append(Nanoseconds.now - start)
            }
            all += times
            return median(times)
        } baseline: {
            try baseline.ask("single 20")
        }
        Row("sync by \(what): one change, from `set` to the other device's database; C", singles, atMost: Self.limit)
            .print()
        let slowest = (all.sorted()[all.count * 99 / 100], try baseline.ask("slowest 0"))
        Row(
            what: "the slowest of a hundred", ours: microseconds(slowest.0), baseline: microseconds(slowest.1),
            ratio: decimal(slowest.0 / slowest.1, 2)
        ).print()
        let stream = try await Comparison.rounds(7) {
            byte &+= 1
            let start = Nanoseconds.now
            for key in devices.keys { try await first.set(Data(repeating: byte, count: 128), for: key) }
            await arrivals.wait(devices.keys.count)
            return (Nanoseconds.now - start) / Double(devices.keys.count)
        } baseline: {
            try baseline.ask("stream \(devices.keys.count)")
        }
        Row("sync by \(what): each of 1,000 changes, as fast as they are set; C", stream, atMost: Self.limit).print()
        for task in syncing { task.cancel() }
        for task in syncing { _ = await task.result }
        try devices.remove()
    }

    private static func companionFolder(_ setting: Setting, _ name: String) throws -> String {
        let folder = "\(setting.folder)/sync-\(name)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    // MARK: A new device

    private func joining() async throws {
        let count = 100_000
        let devices = SyncedDevices(setting, "joining", .folder, keys: count)
        let (first, _) = try await devices.pair()
        try await devices.fill(first, 0..<count, with: 1)
        try await first.sync()
        let baseline = try Companion("\(setting.tools)/sync", ["folder", try Self.companionFolder(setting, "joining")])
        var number = 0
        let times = try await Comparison.rounds(3, areWarm: true) {
            number += 1
            let device = try await devices.device("new-\(number)")
            let code = try await first.syncGroup.invite().code
            let start = Nanoseconds.now
            var report = try await device.syncGroup.join(code, named: "new-\(number)")
            while report.isJoining {
                try await first.sync()
                report = try await device.sync()
            }
            return (Nanoseconds.now - start) / Double(count)
        } baseline: {
            try baseline.ask("join \(count)")
        }
        Row(
            "a new device takes over each of 100,000 values of 128 B; C, copies, opens and stores them", times,
            atMost: Self.limit
        ).print()
        try signatures(baseline, joining: times.ours)
        try devices.remove()
    }

    /// What it costs that each record shows who has made it. The library computes it; the rest is small beside that.
    ///
    /// - Parameter joining: Nanoseconds in which a new device takes over one value.
    private func signatures(_ baseline: Companion, joining: Double) throws {
        let (alone, most) = (try baseline.ask("prove 2000"), 150_000.0)
        Row(
            what: "the signature of one change, made and checked, in C; what it may cost", ours: microseconds(alone),
            baseline: microseconds(most), ratio: decimal(alone / most, 2), aim: "<= 1.00x", isMet: alone <= most
        ).print()
        let each = try baseline.ask("check 500")
        let others = joining - each
        Row(
            what: "a new device takes over each value, with what its signature costs in C; without it",
            ours: microseconds(joining), baseline: microseconds(others), ratio: decimal(joining / others, 2),
            aim: "<= 1.10x", isMet: joining <= 1.1 * others
        ).print()
    }

    // MARK: Cost by the number of keys

    /// The cost of a change and a reconnect in a group.
    private struct Group {
        let keys: Int
        /// Bytes on the transport, for one change that is published on its own.
        var bytes = 0.0
        /// Nanoseconds for each change, by the number of changes that are received at once.
        var times: [(changes: Int, each: Double)] = []
    }

    private func growth() async throws {
        var groups: [Group] = []
        for count in [100, 10_000, 100_000] { groups.append(try await group(count)) }
        for group in groups {
            let growth = group.bytes / groups[0].bytes
            Row(
                what: "bytes of one change of 128 B in the shared folder, with acknowledgements: of \(group.keys) keys",
                ours: decimal(group.bytes, 0), baseline: decimal(groups[0].bytes, 0), ratio: decimal(growth, 2),
                aim: "<= 1.05x", isMet: growth <= 1.05
            ).print()
        }
        for (small, large) in zip(groups[1].times, groups[2].times) {
            let growth = large.each / small.each
            Row(
                what: "each of \(small.changes) changes, taken in after a reconnect: of 100,000 keys; of 10,000 keys",
                ours: microseconds(large.each), baseline: microseconds(small.each), ratio: decimal(growth, 2),
                aim: "<= 1.50x", isMet: growth <= 1.5
            ).print()
        }
    }

    private func group(_ count: Int) async throws -> Group {
        let devices = SyncedDevices(setting, "group-\(count)", .folder, keys: count)
        let (first, second) = try await devices.pair()
        try await devices.fill(first, 0..<count, with: 1)
        try await devices.settle(first, second)
        var group = Group(keys: count)
        let before = try devices.sharedBytes()
        let changes = 20
        for index in 0..<changes {
            try await first.set(Data(repeating: 2, count: 128), for: devices.keys[index])
            try await first.sync()
            try await second.sync()
        }
        group.bytes = Double(try devices.sharedBytes() - before) / Double(changes)
        var byte: UInt8 = 2
        for changes in [100, 1000, 10_000] where changes <= count && count > 100 {
            var times: [Double] = []
            for _ in 0..<3 {
                byte += 1
                try await devices.fill(first, 0..<changes, with: byte)
                try await first.sync()
                let start = Nanoseconds.now
                let report = try await second.sync(SyncedDevices.requested)
                times.append((Nanoseconds.now - start) / Double(changes))
                guard report.changed.count == changes else {
                    throw Failure(description: "\(report.changed.count) of \(changes) changes arrived")
                }
            }
            group.times.append((changes, median(times)))
        }
        try devices.remove()
        return group
    }
}

/// The values that sync changes on a device.
private final class Arrivals: @unchecked Sendable {
    // Used by one task.
    private var changes: AsyncStream<String>.Iterator

    init(_ device: StorageRouter) { changes = device.syncGroup.changes().makeAsyncIterator() }

    /// Waits for the next changes.
    func wait(_ count: Int) async { for _ in 0..<count { _ = await changes.next() } }
}
