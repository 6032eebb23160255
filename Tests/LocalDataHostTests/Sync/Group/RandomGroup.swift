import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing
@testable import HostSync
@testable import LocalDataHost

/// Devices that do random things to their copies of a log.
struct RandomGroup {
    private let cryptos: [GroupCrypto]
    private(set) var devices: [TestDevice]
    /// Images from which a device can be restored.
    private var images: [TestDevice] = []
    private var clock: UInt64 = 10_000

    init(_ seed: UInt64, by cryptos: [GroupCrypto]) throws {
        self.cryptos = cryptos
        devices = [try TestDevice(creating: "device 0", cryptos[Int(seed % 2)])]
        for _ in 0..<2 { try join(0) }
        try exchange(&devices)
    }

    /// Whether a removal is the reason for the state's epoch, so that no removed device has its key.
    func hadNeeded(_ state: GroupState) -> Bool { state.epoch.number > 0 }

    mutating func step(_ generator: inout SeededGenerator) throws {
        let actor = Int.random(in: devices.indices, using: &generator)
        let other = Int.random(in: devices.indices, using: &generator)
        // Clocks may be wrong by a few steps.
        clock += 100
        let time = clock - UInt64.random(in: 0..<400, using: &generator)
        if Int.random(in: 0..<6, using: &generator) == 0 { images.append(devices[actor]) }
        switch Int.random(in: 0..<12, using: &generator) {
        case 0, 1: if devices.count < 7 { try? join(actor) }
        case 2, 3, 4: try? devices[actor].remove(devices[other].id, at: time)
        case 5: try? devices[actor].forget(devices[other].id, at: time)
        case 6: try? devices[actor].rekey(at: time)
        case 7: try misbehave(actor, other, at: time)
        case 8: restore(&generator)
        case 10: try devices[actor].answer(at: time)
        case 9:
            if let code = try? devices[actor].invite(at: time) { try? rejoin(other, code, devices[actor].log.entries) }
        default: try devices[actor].receive(devices[other])
        }
    }

    private mutating func join(_ host: Int) throws {
        let new = try devices[host].admit("device \(devices.count)", at: clock, cryptos[devices.count % 2])
        devices.append(new)
    }

    private mutating func rejoin(_ index: Int, _ code: String, _ entries: [Data]) throws {
        let known = devices[index]
        var new = try TestDevice(joining: entries, by: code, "again", at: clock, as: known.device, known.crypto)
        try new.receive(known)
        // A device joins again with keys of its own only if it has lost no others with that.
        guard known.keys.knownEpochs.isSubset(of: new.keys.knownEpochs) else { return }
        devices[index] = new
    }

    /// Makes a device act without the right to do so.
    private mutating func misbehave(_ actor: Int, _ other: Int, at time: UInt64) throws {
        let known = devices[actor].log.graph.entries.filter { $0.profile != nil }.map(\.author)
        guard known.contains(devices[other].id), actor != other else { return }
        let others = known.filter { $0 != devices[other].id }
        try devices[actor].force(
            .remove(devices[other].id, devices[actor].epochKeys(for: others)), after: devices[actor].log.graph.tips,
            at: time)
    }

    /// Resets a device to an earlier image, so that it forgets everything since.
    private mutating func restore(_ generator: inout SeededGenerator) {
        guard let image = images.randomElement(using: &generator) else { return }
        // Published entries are not lost: another device has them.
        for index in devices.indices where devices[index].id == image.id {
            for receiver in devices.indices where receiver != index { try? devices[receiver].receive(devices[index]) }
            devices[index] = image
            return
        }
    }
}
