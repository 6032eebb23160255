import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Devices that change the same values while they, and their carrier, are killed again and again.
final class DevicesCampaign {
    private let folder: TemporaryFolder
    private let supervisor: Supervisor
    private let carrier: any Carrier
    private let keys: CampaignKeys
    private let devices: [SyncedDevice]
    private let changes: Int
    private var random: SeededGenerator
    private var carrierRounds = 0
    /// The values that `ld-host set` stored, each under its own key.
    private var singles: [(label: String, isDone: Bool)] = []

    /// - Parameter changes: The number of changes that each device makes.
    init(of count: Int, over kind: CarrierKind, keys: CampaignKeys, changes: Int, seed: UInt64) throws {
        let (folder, supervisor) = (try TemporaryFolder(), try Supervisor())
        let carrier = try kind.make(for: count, in: folder.path, supervisor)
        devices = try (0..<count).map { try SyncedDevice($0, keys, over: carrier, supervisor) }
        (self.folder, self.supervisor, self.carrier) = (folder, supervisor, carrier)
        (self.keys, self.changes, random) = (keys, changes, SeededGenerator(seed: seed))
    }

    /// Makes the devices members of one group, and waits until each has the group's values.
    func gather() throws {
        try devices[0].home.done("sync", "init", "--name", "readable-device")
        for device in devices.dropFirst() {
            let code = try devices[0].home.done("sync", "invite").text
            try wait("for the invitation to arrive") {
                let ending = try device.home.run(
                    "sync", "join", "--name", "readable-device", input: Array(code.utf8))
                return (ending.status == 0, ending.errors)
            }
        }
        for device in devices { try device.startSyncing() }
        try wait("for all devices to have joined") {
            let states = try devices.map { try $0.status() }
            return (states.allSatisfy { !$0.isJoining && $0.members == devices.count }, "\(states)")
        }
    }

    private enum Disturbance { case syncing, editing, crowd, carrier, single }

    /// The disturbances of devices and carrier, each as often as it is to happen.
    private static let disturbances: [Disturbance] = [
        .syncing, .syncing, .syncing, .syncing, .editing, .editing, .crowd, .carrier, .carrier, .single,
    ]

    /// Makes all devices change values, and disturbs everything until they are done, at least once in each way.
    func edit() throws {
        for device in devices { try device.startEditing(through: changes) }
        repeat {
            for disturbance in Self.disturbances.shuffled(using: &random) {
                pause(50...400)
                try disturb(devices[Int.random(in: devices.indices, using: &random)], disturbance)
            }
        } while !devices.allSatisfy { $0.recorded().isEnded }
    }

    private func disturb(_ device: SyncedDevice, _ disturbance: Disturbance) throws {
        switch disturbance {
        case .syncing:
            try device.stopSyncing()
            pause(0...1000)
            try device.startSyncing()
        case .editing:
            try device.stopEditing()
            try device.startEditing(through: changes)
        case .crowd:
            // Several processes of one device sync at once and are killed.
            let delays = (0..<3).map { _ in Int.random(in: 20...900, using: &random) }
            let line = delays.map { "timeout -s KILL \(seconds($0)) ld-host sync push >out.\($0) 2>&1 &" }
            _ = try device.home.shell("\(line.joined(separator: " ")) wait")
        case .carrier:
            try carrier.disturb(round: carrierRounds, &random)
            carrierRounds += 1
        case .single: try setSingle(on: device)
        }
    }

    /// Stores a value with `ld-host set`, which may be killed meanwhile.
    private func setSingle(on device: SyncedDevice) throws {
        guard singles.count < keys.single else { return }
        let name = CampaignKeys.name(keys.shared + singles.count)
        // With a number of this kind, a value is its label and a space.
        let label = "\(device.number).\(64 * (1_000_000 + singles.count))"
        let delay = Int.random(in: 5...200, using: &random)
        let ending = try device.home.shell(
            "timeout -s KILL \(seconds(delay)) ld-host set userDefaults/\(name) '\(label) ' --create >out.set")
        #expect([0, 137].contains(ending.status), "\(ending.errors)")
        singles.append((label, ending.status == 0))
    }

    /// Waits until all devices have the same state.
    ///
    /// - Returns: The labels of their values.
    func settle() throws -> Set<String> {
        var values: [[String: String]] = []
        try wait("for one state of all devices") {
            let states = try devices.map { try $0.status() }
            for (device, state) in zip(devices, states) where state.removalsToAccept > 0 {
                try device.home.done("sync", "accept")
            }
            values = try devices.map { try $0.values() }
            let different = values[0].keys.filter { name in values.contains { $0[name] != values[0][name] } }
            return (
                states.allSatisfy(\.isSettled) && values.allSatisfy { $0 == values[0] },
                "\(states), different: \(different.sorted().prefix(10)), counts \(values.map(\.count))"
            )
        }
        for device in devices { try device.stopSyncing() }
        return Set(values[0].values)
    }

    /// Checks the outcome of all changes.
    func check(_ current: Set<String>) throws {
        var log = EditLog()
        for device in devices { log.add(device.recorded()) }
        for single in singles { log.add(single.label, isDone: single.isDone) }
        let losers = Set(try devices.flatMap { try $0.losers() })
        #expect(log.failures == [], "changes failed")
        #expect(log.lost(current: current, losers: losers) == [], "acknowledged values are lost")
        #expect(log.returned(current: current) == [], "what was replaced or removed is there again")
        #expect(log.invented(current.union(losers)) == [], "nobody wrote these values")
        #expect(!losers.isEmpty && !log.replaced.isEmpty && current.count > 1, "the campaign has tried nothing")
        #expect(log.written.count >= devices.count * changes / 2, "most changes were not acknowledged")
    }

    /// Checks that the carried data reveals nothing: no name of a key or device, no value.
    func checkSecrecy() throws {
        for folder in carrier.folders {
            var found = (status: Int32(2), text: "")
            // A file may disappear during the search.
            try wait("to search \(folder)") {
                let ending = try devices[0].home.shell("grep -rlaE 'readable|shared-key|userDefaults' '\(folder)'")
                found = (ending.status, ending.text)
                return (ending.status < 2, ending.errors)
            }
            #expect(found.status == 1, "plain text in \(found.text)")
        }
    }

    private func wait(_ what: String, until isDone: () throws -> (Bool, String)) throws {
        let start = ContinuousClock.now
        while true {
            let (isOver, state) = try isDone()
            if isOver { return }
            guard ContinuousClock.now - start < .seconds(300) else {
                throw TestFailure("waited in vain \(what): \(state)")
            }
            pause(200...400)
        }
    }

    private func pause(_ milliseconds: ClosedRange<UInt32>) {
        usleep(UInt32.random(in: milliseconds, using: &random) * 1000)
    }

    private func seconds(_ milliseconds: Int) -> String { "\(Double(milliseconds) / 1000)" }
}
