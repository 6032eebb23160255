import Foundation
import LocalDataAPI

@testable import HostPlugins
@testable import HostSync
@testable import LocalDataHost

/// A schedule of events for some devices, which a seed determines, and the conditions that must hold at its end.
final class Simulation {
    /// A change that a person made.
    private struct Operation {
        let device: DeviceID
        let step: Int
        let address: String
        /// The value that the person saw and replaced; `nil` if absent.
        let replaced: String?
        /// Whether it may be lost: the device was restored to an earlier image, or was removed.
        var mayBeLost = false
    }

    let hazards: Hazards
    private let fault: SyncFault?
    private var random: SeededRandom
    private let network: SimulatedNetwork
    private(set) var devices: [SimulatedDevice] = []
    private var operations: [Operation] = []
    private var made: [String: Int] = [:]
    private var networkImages: [(step: Int, logs: [String: [SimulatedNetwork.Event]])] = []
    private var images: [(step: Int, device: DeviceID, disk: SimulatedDisk)] = []
    private var mayBeGone: Set<String> = []
    private var step = 0
    /// The state of the most advanced group.
    private var newest: SimulatedGroup?
    private var removed: [SimulatedDevice] = []
    private(set) var log: [String] = []
    /// Values that a new device had before it joined, while a member had a different one.
    private var weak: [(address: String, value: String)] = []
    /// Violations that were noticed during the schedule.
    private var noticed: [String] = []

    /// - Parameter fault: The fault of the engines; `nil` for none.
    init(_ seed: UInt64, _ hazards: Hazards, _ fault: SyncFault? = nil) {
        (self.hazards, self.fault) = (hazards, fault)
        random = SeededRandom(seed)
        network = SimulatedNetwork(SeededRandom(seed &+ 1))
        (network.failures, network.hostility) = (hazards.failures, hazards.hostility)
        for _ in 0..<hazards.devices { addDevice() }
        for device in devices { tellMembers(device) }
    }

    private var keys: [SyncKey] {
        (0..<hazards.keys).map { SyncKey(address: "userDefaults/key\($0)", policy: .automaticSmall) }
    }

    /// The group for the next device that is added; the other devices do not know of it yet.
    private func addMember() -> SimulatedGroup {
        let id = DeviceID(high: random.next() << 56, low: UInt64(devices.count + removed.count))
        let group: SimulatedGroup
        do {
            group = hazards.isSealed ? try SealedGroup(joining: newest as? SealedGroup, network) : SimulatedGroup(id)
        } catch {
            noticed.append("no device can join: \(error)")
            group = SimulatedGroup(id)
        }
        if !hazards.isSealed {
            if let newest { group.learn(from: newest) }
            group.members.append(id)
        }
        newest = group
        return group
    }

    @discardableResult
    private func addDevice() -> SimulatedDevice {
        let group = addMember()
        let year: Int64 = 365 * 86_400_000
        let skew = hazards.skews && random.chance(40) ? Int64.random(in: -year...year, using: &random) : 0
        let clock = SimulatedClock(skew: skew)
        var limits = SyncEngine.Limits()
        limits.page = 5
        if let consents = hazards.consents { limits.removals = consents }
        let device = SimulatedDevice(
            group, keys, isAtomic: random.chance(60), network, clock, limits, merges: hazards.merges, fault)
        device.replica.intrudes = { [unowned self, unowned device] address in
            guard self.random.chance(self.hazards.intrusions) else { return false }
            self.change(device, address)
            return true
        }
        devices.append(device)
        return device
    }

    /// Runs the schedule, and lets everything settle.
    ///
    /// - Returns: The conditions that do not hold at the end.
    func run() -> [String] {
        for number in 0..<hazards.steps {
            step = number
            act()
        }
        return settle() + noticed + violations()
    }

    /// Ends all devices, since a device and its engine hold each other.
    func stop() { for device in devices + removed { device.stop() } }

    private func act() {
        let passed = Int64.random(in: 0...50_000, using: &random)
        for device in devices { device.clock.pass(passed) }
        guard let device = devices.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<35: change(device, keys.randomElement(using: &random)!.address)
        case 35..<60:
            for writer in network.writers() where random.chance(60) {
                network.deliver(to: device.id, from: writer, all: random.chance(40))
            }
        default:
            if random.chance(hazards.kills) {
                device.replica.writesLeft = Int.random(in: 0..<12, using: &random)
                note("\(name(device)) will be killed")
            }
            guard !random.chance(20) else {
                note("\(name(device)) publishes its changes")
                device.publishChanges()
                break
            }
            note("\(name(device)) steps")
            takeStep(device)
        }
        if random.chance(hazards.wipes) { network.wipe(); note("wiped") }
        if hazards.rewinds > 0, random.chance(hazards.rewinds) { rewind() }
        if random.chance(hazards.restores) { imageOrRestore(device) }
        if hazards.storesBack > 0, random.chance(hazards.storesBack) { putStoreBack(device) }
        if random.chance(hazards.joins), devices.count < 5 { join() }
        if random.chance(hazards.removals), devices.count > 2 { remove(device) }
        for device in devices where random.chance(50) { tellMembers(device) }
        if hazards.defiance > 0, random.chance(hazards.defiance), let device = removed.randomElement(using: &random) {
            defy(device)
        }
        if hazards.rounds > 0, random.chance(hazards.rounds) { exchangeAll() }
    }

    /// Makes all devices exchange all records for a while, so that removals end.
    private func exchangeAll() {
        note("all meet")
        for _ in 0..<4 {
            for device in devices {
                for writer in network.writers() { network.deliver(to: device.id, from: writer, all: true) }
                takeStep(device)
            }
        }
    }

    /// Makes a device take a step, which may not remove most of its values without consent.
    private func takeStep(_ device: SimulatedDevice) {
        let (before, present) = (device.replica.removals, device.replica.disk.values.count)
        let isJoining = (try? device.running())?.isJoining ?? true
        let (refused, forged) = (device.refused, network.forgeries[device.id] ?? 0)
        let isWhole = device.step()
        let due = (network.forgeries[device.id] ?? 0) - forged
        // A device that joins reads its own records again, and only those. While a device or epoch is not known yet,
        // forged records cannot be recognized.
        if hazards.hostility > 0, hazards.joins + hazards.removals == 0, isWhole, !isJoining,
            device.refused - refused != due
        {
            noticed.append("\(name(device)) refused \(device.refused - refused) of \(due) forged records")
        }
        let removed = device.replica.removals - before
        let known = max(present, device.replica.disk.values.count + removed)
        if !isJoining, removed > device.limits.removals, removed * 2 > known {
            noticed.append("\(name(device)) removed \(removed) of \(known) values without consent")
        }
        guard hazards.consents != nil, random.chance(30), let engine = try? device.running() else { return }
        if engine.removalsToAccept > 0 {
            note("\(name(device)) consents to \(engine.removalsToAccept) removals")
            try? engine.acceptRemovals()
        }
    }

    /// A person sets or removes a value.
    private func change(_ device: SimulatedDevice, _ address: String) {
        let old = device.replica.disk.values[address].map { String(decoding: $0.data, as: UTF8.self) }
        let removes = old != nil && random.chance(hazards.removedValues)
        let number = operations.count
        // A new device's value loses against the group's; it is kept.
        let isJoining = hazards.merges && (try? device.running())?.isJoining ?? true
        // In a store that serves again, a value that is removed before the device syncs looks as if it were not there,
        // also if it was set after the store came back.
        let isReturned = device.replica.disk.returned != nil && SimulatedDisk.isApart(address)
        if isReturned, removes {
            device.replica.disk.returned?.insert(address)
            forgive(device) { $0 == address }
        } else {
            device.replica.disk.returned?.remove(address)
        }
        let isUnclear = device.isAmidChange(of: address) || isJoining || isReturned && removes
        operations.append(
            Operation(device: device.id, step: step, address: address, replaced: old, mayBeLost: isUnclear))
        guard !removes else {
            device.replica.disk.values[address] = nil
            // Then the group has no value, and accepts that of a new device.
            weak.removeAll { $0.address == address }
            return note("\(name(device)) removes \(address): \(old ?? "")")
        }
        let value = hazards.merges ? adding(number, to: old) : "value \(number)"
        made[value] = number
        // Not every store says when a value was written.
        let written = number.isMultiple(of: 3) ? nil : device.clock.now() << 16 | 0xffff
        device.replica.disk.values[address] = LocalValue(
            data: Data(value.utf8), attributes: ValueAttributes(), mark: nil, written: written)
        note("\(name(device)) sets \(address) to \(value), was \(old ?? "absent")")
    }

    private func adding(_ number: Int, to old: String?) -> String {
        let numbers = SimulatedSet(Data((old ?? "").utf8)).numbers.union([number])
        return String(decoding: SimulatedSet(numbers).data, as: UTF8.self)
    }

    /// Saves the network, or puts it back to what it was.
    private func rewind() {
        if random.chance(50) { return networkImages.append((step, network.image)) }
        guard let image = networkImages.randomElement(using: &random) else { return }
        note("the network goes back to step \(image.step)")
        network.putBack(image.logs)
        networkImages.removeAll { $0.step > image.step }
    }

    private func takeImage(of device: SimulatedDevice) {
        // A change that sync has not noticed looks the same as one that is made after the image is restored.
        device.observe()
        images.append((step, device.id, device.replica.disk))
        note("image of \(name(device))")
    }

    private func imageOrRestore(_ device: SimulatedDevice) {
        if random.chance(50) { return takeImage(of: device) }
        guard let image = images.filter({ $0.device == device.id }).randomElement(using: &random) else { return }
        note("\(name(device)) is restored to step \(image.step)")
        mayBeGone.formUnion(device.replica.disk.losers.subtracting(image.disk.losers))
        device.replica.disk = image.disk
        device.stop()
        forgive(device)
        images.removeAll { $0.device == device.id && $0.step > image.step }
    }

    /// Puts the store of half of the keys back to what it was in an image, or lets one serve that served before.
    private func putStoreBack(_ device: SimulatedDevice) {
        if random.chance(40) { return takeImage(of: device) }
        device.observe()
        if random.chance(50) {
            note("\(name(device)) has half of its keys in another store")
            device.replica.disk.switchStores(keys.map(\.address))
        } else if let image = images.filter({ $0.device == device.id }).randomElement(using: &random) {
            note("\(name(device)) has half of its keys as in step \(image.step)")
            device.replica.disk.putBack(image.disk) { try? device.group.name(of: $0) }
        }
        device.stop()
        forgive(device, SimulatedDisk.isApart)
    }

    /// Notes that changes which a person made on a device may be lost.
    private func forgive(_ device: SimulatedDevice, _ isMeant: (String) -> Bool = { _ in true }) {
        for index in operations.indices where operations[index].device == device.id {
            if isMeant(operations[index].address) { operations[index].mayBeLost = true }
        }
    }

    private func join() {
        let device = addDevice()
        if random.chance(60) {
            let address = keys.randomElement(using: &random)!.address
            let isTaken = devices.contains { $0.id != device.id && $0.knowsPublishedValue(of: address) }
            if isTaken { weak.append((address, "value \(operations.count)")) }
            change(device, address)
        }
        note("\(name(device)) joins")
        if let first = devices.first { tellMembers(first) }
    }

    private func remove(_ device: SimulatedDevice) {
        note("\(name(device)) is removed")
        devices.removeAll { $0.id == device.id }
        removed.append(device)
        device.replica.intrudes = { _ in false }
        network.former.insert(device.id.text)
        forgive(device)
        mayBeGone.formUnion(device.replica.disk.losers)
        guard let first = devices.first else { return }
        tellMembers(first)
        do { try first.group.remove(device.id) } catch { noticed.append("no device can be removed: \(error)") }
        newest = first.group
    }

    /// Makes a removed device, which still has its keys, publish a value.
    private func defy(_ device: SimulatedDevice) {
        guard devices.allSatisfy({ $0.group.past.contains(device.id) }) else { return }
        let address = keys.randomElement(using: &random)!.address
        device.replica.disk.values[address] = LocalValue(
            data: Data("defiant \(step)".utf8), attributes: ValueAttributes(), mark: nil)
        for writer in network.writers() { network.deliver(to: device.id, from: writer, all: true) }
        note("\(name(device)), which was removed, sets \(address) to defiant \(step)")
        device.step()
    }

    private func tellMembers(_ device: SimulatedDevice) {
        if let newest, newest !== device.group { device.group.learn(from: newest) }
    }

    private func note(_ text: String) { log.append("\(step): \(text)") }
    private func name(_ device: SimulatedDevice) -> String { "\(device.id.text.prefix(2))\(device.id.low)" }
}

// The end of a schedule.
extension Simulation {
    /// Makes all devices work without faults until nothing changes any more.
    private func settle() -> [String] {
        (network.failures, network.hostility) = (0, 0)
        for device in devices {
            device.replica.intrudes = { _ in false }
            tellMembers(device)
        }
        var last = ""
        var same = 0
        for round in 0..<160 {
            step = hazards.steps + round
            for device in devices {
                for writer in network.writers() { network.deliver(to: device.id, from: writer, all: true) }
                device.step()
                if let engine = try? device.running(), engine.removalsToAccept > 0 { try? engine.acceptRemovals() }
            }
            let now = devices.map { picture($0) }.joined(separator: "\n")
            same = now == last ? same + 1 : 0
            last = now
            // A device that lacks records looks for them again after 1, 2, 4 and so on steps.
            let isWaiting = devices.contains { (try? $0.running()).map { $0.isJoining || !$0.isComplete } ?? true }
            if same == (isWaiting ? 40 : 5) { return [] }
        }
        return ["the devices do not come to rest:\n\(last)"]
    }

    private func picture(_ device: SimulatedDevice) -> String {
        let values = device.replica.disk.values.sorted { $0.key < $1.key }
            .map { "\($0.key)=\(String(decoding: $0.value.data, as: UTF8.self))" }
        let engine = try? device.running()
        return "\(name(device)) \(values) joining \(engine?.isJoining ?? true) complete \(engine?.isComplete ?? false) "
            + "duties \(engine?.pendingCount ?? -1) entries \(device.replica.disk.entries.count)"
    }

    private func violations() -> [String] {
        var found: [String] = []
        let final = devices.map { $0.replica.disk.values.mapValues { String(decoding: $0.data, as: UTF8.self) } }
        for (device, values) in zip(devices, final) where values != final[0] {
            found.append("\(name(device)) has \(values), \(name(devices[0])) has \(final[0])")
        }
        for device in devices {
            guard let engine = try? device.running() else { continue }
            if engine.isJoining { found.append("\(name(device)) never ends joining") }
            if !engine.isComplete { found.append("\(name(device)) lacks records") }
            let left = engine.entries.filter { $0.value.state?.hash == nil }
            if !left.isEmpty { found.append("\(name(device)) remembers \(left.count) removed values: \(left)") }
        }
        if hazards.merges { return found + missingNumbers(in: final) }
        if hazards.wipes + hazards.restores + hazards.removals == 0 {
            for (address, value) in weak where final.contains(where: { $0[address] == value }) {
                found.append("'\(value)' of a new device replaced the group's")
            }
        }
        let shown = Set(final.flatMap(\.values))
        let kept = devices.reduce(into: Set<String>()) { $0.formUnion($1.replica.disk.losers) }
        for value in shown where value.hasPrefix("defiant") { found.append("'\(value)' is of a removed device") }
        let replaced = Set(operations.compactMap(\.replaced))
        let surelyReplaced = Set(operations.filter { !$0.mayBeLost }.compactMap(\.replaced))
        for value in shown where surelyReplaced.contains(value) { found.append("'\(value)' came back") }
        for (value, number) in made where !shown.contains(value) && !kept.contains(value) && !replaced.contains(value) {
            if operations[number].mayBeLost || mayBeGone.contains(value) { continue }
            found.append("'\(value)' is lost")
        }
        return found
    }

    /// Numbers that a person added but that are missing in a set.
    private func missingNumbers(in final: [[String: String]]) -> [String] {
        operations.enumerated().compactMap { number, operation in
            let set = SimulatedSet(Data((final[0][operation.address] ?? "").utf8))
            guard !operation.mayBeLost, !set.numbers.contains(number) else { return nil }
            return "\(number) is not in \(operation.address): \(set.numbers.sorted())"
        }
    }
}
