import Foundation
import LocalDataAPI
import Testing

@testable import HostPlugins
@testable import HostSync
@testable import LocalDataHost

/// The cost of one change, whatever the number of keys: durable writes, and records to read.
struct SyncWorkTests {
    private let network = SimulatedNetwork(SeededRandom(1))
    private let keys = (0..<20).map { SyncKey(address: "userDefaults/key\($0)", policy: .automaticSmall) }

    private func device(_ number: UInt64, isAtomic: Bool = true, skew: Int64 = 0) -> SimulatedDevice {
        SimulatedDevice(
            SimulatedGroup(DeviceID(high: number, low: number)), keys, isAtomic: isAtomic, network,
            SimulatedClock(skew: skew),
            SyncEngine.Limits(), merges: false, nil)
    }

    private func introduce(_ devices: SimulatedDevice...) {
        for device in devices { device.group.members = devices.map(\.id) }
    }

    private func set(_ value: String, _ key: Int, on device: SimulatedDevice) {
        device.replica.disk.values[keys[key].address] = LocalValue(
            data: Data(value.utf8), attributes: ValueAttributes(), mark: nil)
    }

    private func value(_ key: Int, on device: SimulatedDevice) -> String? {
        device.replica.disk.values[keys[key].address].map { String(decoding: $0.data, as: UTF8.self) }
    }

    private func settle(_ devices: SimulatedDevice...) {
        for _ in 0..<6 { for device in devices { step(device) } }
    }

    private func step(_ device: SimulatedDevice, savesAll: Bool = true) {
        device.clock.pass(1000)
        for writer in network.writers() { network.deliver(to: device.id, from: writer, all: true) }
        device.step(savesAll: savesAll)
    }

    @Test("a change is stored once before it is published, and once where it arrives")
    func commits() {
        let (first, second) = (device(1), device(2))
        introduce(first, second)
        for key in keys.indices { set("old", key, on: first) }
        settle(first, second)
        for number in 0..<10 {
            set("new \(number)", number, on: first)
            let (before, there) = (first.replica.commits, second.replica.commits)
            first.publishChanges()
            #expect(first.replica.commits - before == 1)
            step(second)
            #expect(value(number, on: second) == "new \(number)")
            #expect(second.replica.commits - there == 1)
            step(first)
            #expect(first.replica.commits - before == 2, "what a process would find out again is saved with the round")
        }
    }

    @Test("a process that resumes stores only changes, and saves the rest once")
    func savesLater() throws {
        let (first, second) = (device(1), device(2))
        introduce(first, second)
        settle(first, second)
        let (before, there) = (first.replica.commits, second.replica.commits)
        for number in 0..<5 {
            set("new \(number)", number, on: first)
            first.publishChanges()
            step(second, savesAll: false)
            #expect(value(number, on: second) == "new \(number)")
            step(first, savesAll: false)
        }
        #expect(first.replica.commits - before == 5 && second.replica.commits - there == 5)
        for _ in 0..<2 { for device in [first, second] { try device.running().saveDue() } }
        #expect(first.replica.commits - before == 6 && second.replica.commits - there <= 6)
    }

    @Test("a value whose mark is unchanged is not read again, and a changed one is")
    func reads() {
        let (first, second) = (device(1), device(2))
        introduce(first, second)
        for key in keys.indices { set("value", key, on: first) }
        settle(first, second)
        let (before, there) = (first.replica.reads, second.replica.reads)
        for device in [first, second, first] { step(device) }
        #expect(first.replica.reads == before && second.replica.reads == there)
        set("new", 3, on: first)
        step(first)
        #expect(first.replica.reads == before + 1)
        step(second)
        #expect(value(3, on: second) == "new")
        // Set the earlier content again, and remove a value that was never read since it arrived.
        set("value", 3, on: first)
        second.replica.disk.values[keys[4].address] = nil
        for device in [first, second, first] { step(device) }
        #expect(value(3, on: second) == "value" && value(4, on: first) == nil)
    }

    @Test("a process that ends before the round publishes the same records again, and nothing else")
    func endsEarly() throws {
        let (first, second) = (device(1), device(2))
        introduce(first, second)
        settle(first, second)
        set("value", 3, on: first)
        first.publishChanges()
        first.stop()
        #expect(try first.running().pendingCount == 1)
        settle(first, second)
        #expect(try first.running().pendingCount == 0)
        #expect(value(3, on: second) == "value")
    }

    @Test("a value that is set after a removal is later than it, also if the removal is forgotten where it was made")
    func setAfterForgottenRemoval() throws {
        let (first, ahead, late) = (device(1), device(2, skew: 3_600_000), device(3))
        introduce(first, ahead, late)
        set("old", 3, on: first)
        settle(first, ahead, late)
        // The removal's time follows the clock that is ahead.
        set("new", 4, on: ahead)
        settle(ahead, first, late)
        first.replica.disk.values[keys[3].address] = nil
        for device in [first, late, ahead, first] { step(device) }
        let name = try first.group.name(of: keys[3].address)
        #expect(try first.running().entries[name]?.state == nil && late.running().entries[name]?.state != nil)
        first.replica.disk.values[keys[3].address] = LocalValue(
            data: Data("again".utf8), attributes: ValueAttributes(), mark: nil, written: first.clock.now() << 16)
        first.clock.pass(7_200_000)
        settle(first, late, ahead)
        for device in [first, late, ahead] { #expect(value(3, on: device) == "again") }
    }

    @Test(
        "what a device changes after its clock was far ahead for once arrives, and what others change, too",
        arguments: [100, 7_990, 8_800] as [Int64])
    func farAhead(_ years: Int64) throws {
        let skew = years * 31_557_600_000
        let (first, second) = (device(1, skew: skew), device(2))
        introduce(first, second)
        for key in 0..<3 { set("far", key, on: first) }
        settle(first, second)
        #expect(value(0, on: second) == "far")
        first.clock.pass(-skew)
        for number in 0..<8 {
            set("later \(number)", 0, on: first)
            set("later \(number)", 1, on: second)
            set("new \(number)", 3 + number, on: first)
            settle(first, second)
            #expect(value(0, on: second) == "later \(number)" && value(1, on: first) == "later \(number)")
            #expect(value(3 + number, on: second) == "new \(number)")
        }
        second.replica.disk.values[keys[2].address] = nil
        first.stop()
        settle(second, first)
        #expect(value(2, on: first) == nil)
        #expect(try [first, second].allSatisfy { try $0.running().isComplete && $0.running().pendingCount == 0 })
    }

    @Test("a member that gives a value the last of all times ends nobody's sync but that value's")
    func lastTime() throws {
        let (first, second) = (device(1), device(2))
        introduce(first, second)
        settle(first, second)
        let last = SyncVersion(time: HybridClock.latest, author: first.id)
        let address = keys[0].address
        let content = SyncContent(
            counter: 1 << 62,
            .value(last, SyncHistory(last), address: address, ValueAttributes(), Data("forever".utf8)))
        let name = try first.group.name(of: address)
        try first.publish([
            SyncRecord(writer: first.id.text, name: name, content: first.group.seal(content.encoded(), name: name))
        ])
        settle(second)
        #expect(value(0, on: second) == "forever")
        for number in 0..<8 {
            set("later \(number)", 1, on: second)
            settle(second, first)
            #expect(value(1, on: first) == "later \(number)")
        }
    }

    @Test("a status that a transport keeps back for a while is looked for again")
    func statusKeptBack() throws {
        let (first, second) = (device(1), device(2))
        introduce(first, second)
        set("value", 3, on: first)
        settle(first, second)
        network.hidden[second.id] = ["\(first.id.text)/\(SyncEngine.statusName)"]
        try second.running().startOver()
        step(second)
        #expect(try !second.running().isComplete)
        network.hidden = [:]
        for _ in 0..<3 { step(second) }
        #expect(try second.running().isComplete)
    }

    @Test("a member that is known before its records are read does not make others read everything again")
    func joined() throws {
        let (first, second, third) = (device(1), device(2), device(3))
        introduce(first, second)
        set("value", 0, on: first)
        settle(first, second)
        introduce(first, second, third)
        let before = network.wholeFetches[first.id]
        settle(third, first, second)
        #expect(network.wholeFetches[first.id] == before)
        #expect(value(0, on: third) == "value")
        #expect(try [first, second, third].allSatisfy { try $0.running().isComplete })
    }

    @Test("the next process also reads skipped records, once their writer is known")
    func passedOver() throws {
        let (first, second, third) = (device(1), device(2), device(3))
        introduce(first, second)
        settle(first, second)
        third.group.members = [first.id, second.id, third.id]
        settle(third)
        step(first)
        first.stop()
        _ = try first.running()
        introduce(first, second, third)
        step(first)
        #expect(try first.running().statusCounters[third.id] ?? 0 > 0)
    }
}
