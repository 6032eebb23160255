import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import FolderSync

/// Devices whose folders a ``Copier`` copies, with the same schedule for the same seed: 60 of them, or 4,800 with
/// `LOCALDATA_TORTURE=1`.
@Suite("FolderSync over a program that copies badly")
struct CopierTests {
    private static let devices = ["a", "b", "c"]
    /// The number of times that a restored device publishes before its files come back: the last is enough to compact
    /// several times.
    private static let rounds = [0, 1, 3, 60]

    /// Three devices, and their published records.
    private struct World {
        let folder: TemporaryFolder
        var random: SeededGenerator
        var copier: Copier
        var transports: [String: FolderSync] = [:]
        var replicas: [String: Replica] = [:]
        /// The last number of each of a writer's names, without removed ones.
        var published: [String: [String: Int]] = [:]
        var last = 0
        /// Whether the records of a name must arrive in order.
        var isOrdered = true

        init(seed: UInt64) throws {
            folder = try TemporaryFolder(inMemory: true)
            random = SeededGenerator(seed: seed)
            var folders: [String: String] = [:]
            for device in devices {
                folders[device] = "\(folder.path)/\(device)"
                try TemporaryFolder.makeFolder("\(folder.path)/\(device)")
                replicas[device] = Replica(device)
            }
            copier = Copier(folders: folders, random: SeededGenerator(seed: seed &+ 1_000_000))
            for device in devices { try restart(device) }
        }

        mutating func restart(_ device: String) throws {
            transports[device] = try FolderSync.open("\(folder.path)/\(device)")
        }

        mutating func publish(_ device: String) throws {
            let records = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                last += 1
                let numbered = Numbered(device, "n\(Int.random(in: 0..<30, using: &random))", last)
                published[device, default: [:]][numbered.name] = last
                let isLarge = Int.random(in: 0..<40, using: &random) == 0
                return numbered.record(Int.random(in: 0...(isLarge ? 9000 : 500), using: &random))
            }
            try transports[device]?.publish(records)
        }

        mutating func remove(_ device: String) throws {
            guard let name = published[device]?.keys.sorted().randomElement(using: &random) else { return }
            published[device]?[name] = nil
            try transports[device]?.remove([name], of: device)
        }

        mutating func fetch(_ device: String, atMost most: Int = .max) throws {
            guard let transport = transports[device] else { return }
            try replicas[device]?.fetch(from: transport, atMost: most, isOrdered: isOrdered)
        }

        mutating func step() throws {
            guard let device = devices.randomElement(using: &random) else { return }
            switch Int.random(in: 0..<20, using: &random) {
            case 0...3: try publish(device)
            case 4: try remove(device)
            case 5: try restart(device)
            case 6...8: try fetch(device, atMost: Int.random(in: 1...60, using: &random))
            default: try copier.step()
            }
        }

        /// Checks that a device that has followed from the start, and a new one, know the newest record of every name.
        mutating func check() throws {
            for device in devices {
                try fetch(device)
                var new = Replica("new beside \(device)")
                try new.fetch(from: FolderSync.open("\(folder.path)/\(device)"), isOrdered: isOrdered)
                for replica in [replicas[device], new].compactMap(\.self) {
                    for (writer, names) in published {
                        for (name, number) in names {
                            let (newest, last) = (replica.newest[writer]?[name], replica.last[writer]?[name])
                            guard newest == number, last == number else {
                                throw TestFailure(
                                    "\(replica.name) has \(newest ?? -1) of \(writer)'s \(name), at last \(last ?? -1), "
                                        + "not \(number)")
                            }
                        }
                    }
                }
            }
        }
    }

    private static func schedules(_ count: Int) -> Range<UInt64> {
        TestRun.seed * 1_000_000..<TestRun.seed * 1_000_000 + UInt64(TestRun.isTorture ? 80 * count : count)
    }

    @Test("every device gets the newest of every name, in order, and never a torn record")
    func campaign() {
        var delivered = 0
        for seed in Self.schedules(60) {
            do {
                var world = try World(seed: seed)
                for _ in 0..<Int.random(in: 50...400, using: &world.random) { try world.step() }
                try world.copier.finish()
                try world.check()
                delivered += world.replicas.values.reduce(0) { $0 + $1.delivered }
            } catch { Issue.record("schedule \(seed): \(error)") }
        }
        print("copier: \(Self.schedules(60).count) schedules, \(delivered) records delivered")
    }

    @Test("no device loses what a restored device published after its image was made, or after the restore")
    func restored() {
        for seed in Self.schedules(20) {
            do {
                var world = try World(seed: seed)
                for _ in 0..<150 { try world.step() }
                try restore("a", in: &world)
                for _ in 0..<100 { try world.step() }
                try world.copier.finish()
                try world.check()
            } catch { Issue.record("schedule \(seed): \(error)") }
        }
    }

    /// Resets a device's folder to an earlier state, all of it or the part of its own writer, after other devices have
    /// fetched all that it has published since. Then a copying program restores the files, bit by bit.
    private func restore(_ device: String, in world: inout World) throws {
        let isWhole = Bool.random(using: &world.random)
        let (shared, image, kept) = (
            "\(world.folder.path)/\(device)", "\(world.folder.path)/image", "\(world.folder.path)/kept"
        )
        let own = "\(shared)/\(device)"
        let replaced = isWhole ? shared : own
        let isEmpty = Int.random(in: 0..<4, using: &world.random) == 0 || !FileManager.default.fileExists(atPath: own)
        if !isEmpty { try FileManager.default.copyItem(atPath: replaced, toPath: image) }
        for _ in 0..<Int.random(in: 1...30, using: &world.random) {
            try world.publish(device)
            if Int.random(in: 0..<6, using: &world.random) == 0 { try world.restart(device) }
        }
        try world.copier.finish()
        // The copying program restores whole files, whatever it does to the other copies meanwhile.
        try FileManager.default.copyItem(atPath: own, toPath: kept)
        try FileManager.default.removeItem(atPath: replaced)
        if !isEmpty { try FileManager.default.moveItem(atPath: image, toPath: replaced) }
        try TemporaryFolder.makeFolder(shared)
        try world.restart(device)
        // Files that it does not know of come late, and so after the ones that it publishes now.
        (world.isOrdered, world.copier.removes) = (false, false)
        // It publishes before its folder comes back, sometimes enough to compact, and others may fetch that first.
        for _ in 0..<(Self.rounds.randomElement(using: &world.random) ?? 0) { try world.publish(device) }
        for _ in 0..<Int.random(in: 0...60, using: &world.random) { try world.copier.step() }
        for other in Self.devices { try world.fetch(other) }
        for _ in 0..<Int.random(in: 0...12, using: &world.random) {
            try world.copier.bringBackPart(of: device, from: kept)
            if Bool.random(using: &world.random) { try world.publish(device) }
            if Bool.random(using: &world.random) { try world.copier.step() }
            for other in Self.devices { try world.fetch(other, atMost: 40) }
        }
        try world.copier.bringBack(device, from: kept)
        world.copier.removes = true
        if Bool.random(using: &world.random) { try world.restart(device) }
        try world.publish(device)
    }
}
