import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostSync
@testable import LocalDataHost

/// Which of several joins counts, and what an invitation's end means for one that others have taken in.
@Suite("Joins that members have taken in") struct GroupJoinTests {
    private func group(of names: [String]) throws -> [TestDevice] {
        try makeGroup(of: names, try GroupProvider.openssl.crypto())
    }

    private func joining(_ device: TestDevice, _ code: String, _ name: String, at time: UInt64) throws -> TestDevice {
        try TestDevice(joining: device.log.entries, by: code, name, at: time, device.crypto)
    }

    private func names(of device: TestDevice) -> [String] { device.state.members.map(\.name) }

    @Test("who has seen a code that was used does not take the place of the device that has used it")
    func place() throws {
        var device = try group(of: ["a"])[0]
        let code = try device.invite(until: 3000)
        let copy = device
        var new = try joining(device, code, "b", at: 2000)
        try new.answer(at: 2001)
        try device.take(new, at: 2002)
        try device.answer(at: 2002)
        // With the copy of before, and a time of its choice, it is the first in the order.
        var thief = try joining(copy, code, "thief", at: 1)
        try thief.answer(at: 2)
        for time in [UInt64(2500), 9000] {
            var (device, new) = (device, new)
            try device.take(thief, at: time)
            try device.answer(at: time)
            try new.receive(device)
            try new.receive(thief)
            #expect(names(of: device) == ["a", "b"] && names(of: new) == ["a", "b"])
            #expect(device.state == new.state && device.hasCurrentKey && new.hasCurrentKey)
        }
    }

    @Test("a member that finds an invitation's time over does not undo a join that another has taken in meanwhile")
    func away() throws {
        var devices = try group(of: ["a", "b"])
        let code = try devices[0].invite(until: 3000)
        try devices[1].receive(devices[0])
        var new = try joining(devices[0], code, "c", at: 2500)
        try new.answer(at: 2500)
        try devices[0].take(new, at: 2900)
        try devices[0].answer(at: 2900)
        // It has synced last before the join, and learns of the join in two parts.
        try devices[1].answer(at: 9000)
        for source in [new, devices[0]] {
            try devices[1].take(source, at: 9001)
            try devices[1].answer(at: 9001)
        }
        devices.append(new)
        for _ in 0..<2 {
            try exchange(&devices)
            for index in devices.indices { try devices[index].answer(at: 9002) }
        }
        try exchange(&devices)
        for device in devices {
            #expect(names(of: device) == ["a", "b", "c"] && device.hasCurrentKey)
            #expect(device.state == devices[0].state && !device.log.owesEpoch(device.id, at: 9003))
        }
    }

    @Test("devices that join by two codes after their end do not vouch for each other")
    func vouching() throws {
        var device = try group(of: ["a"])[0]
        let codes = [try device.invite(until: 3000), try device.invite(until: 3000)]
        var thieves = try codes.map { try joining(device, $0, "thief", at: 2500) }
        for _ in 0..<2 {
            try exchange(&thieves)
            for index in thieves.indices { try thieves[index].answer(at: 2501) }
        }
        try device.take(thieves[0], at: 9000)
        try device.take(thieves[1], at: 9001)
        try device.answer(at: 9001)
        #expect(names(of: device) == ["a"] && device.hasCurrentKey)
        #expect(!device.log.owesEpoch(device.id, at: 9002))
    }

    @Test("devices that join by codes after their end, and vouch for each other, take nobody's place")
    func vouchingAgainst() throws {
        var device = try group(of: ["a"])[0]
        let codes = [try device.invite(until: 3000), try device.invite(until: 3000)]
        let copy = device
        var new = try joining(device, codes[0], "b", at: 2000)
        try new.answer(at: 2001)
        try device.take(new, at: 2002)
        try device.answer(at: 2002)
        // The time of the code that nobody has used is over.
        try device.answer(at: 9000)
        // Whether each of them counts seems to depend on the other one.
        var thieves = try codes.map { try joining(copy, $0, "thief", at: 1) }
        for _ in 0..<2 {
            try exchange(&thieves)
            for index in thieves.indices { try thieves[index].answer(at: 2) }
        }
        for thief in thieves {
            try device.take(thief, at: 9001)
            try device.answer(at: 9001)
            try new.receive(device)
            try new.receive(thief)
            #expect(names(of: device) == ["a", "b"] && names(of: new) == ["a", "b"])
            #expect(device.state == new.state && device.hasCurrentKey && new.hasCurrentKey)
        }
    }

    @Test("a removed device that has an open code makes members begin one epoch, and ends that code")
    func burnt() throws {
        var devices = try group(of: ["a", "b", "c"])
        try devices[0].remove(devices[2].id)
        try devices[1].receive(devices[0])
        let invitation = try Invitation(code: try devices[0].invite(), devices[0].crypto)
        var thief = devices[2]
        try thief.receive(devices[0])
        let invite = try #require(devices[0].state.invitations.first?.entry)
        let profile = GroupEntry.DeviceProfile(
            agreementKey: thief.device.agreementPublicKey, role: .all, name: "again")
        try thief.force(.join(invite: invite, profile), invitation: invitation)
        try devices[0].receive(thief)
        let before = devices[0].state.epoch.number
        for time in UInt64(6000)..<6005 { try devices[0].answer(at: time) }
        #expect(devices[0].state.epoch.number == before + 1 && devices[0].state.invitations.isEmpty)
        try devices[1].receive(devices[0])
        for device in devices[..<2] {
            #expect(!device.log.owesEpoch(device.id, at: 6006) && names(of: device) == ["a", "b"])
        }
    }

    @Test("members do not keep the keys of epochs that a removed device begins")
    func room() throws {
        var devices = try group(of: ["a", "b", "c"])
        var thief = devices[0]
        try devices[1].remove(thief.id)
        let known = devices[1].keys.knownEpochs
        for time in UInt64(1)..<4 {
            let keys = try thief.epochKeys(for: devices.map(\.id))
            try thief.force(.rekey(keys, GroupEntry.Renewal()), at: time)
        }
        try devices[1].receive(thief)
        #expect(devices[1].keys.knownEpochs == known && devices[1].hasCurrentKey)
    }

    @Test("in a large group, a join that only a junior member has taken in counts for the senior ones, too")
    func large() throws {
        var devices = try group(of: (0..<12).map { "device \($0)" })
        let code = try devices[11].invite(until: 3000, at: 2100)
        var new = try joining(devices[11], code, "new", at: 2500)
        try new.answer(at: 2500)
        try devices[11].take(new, at: 2900)
        try devices[11].answer(at: 2900)
        try devices[0].take(devices[11], at: 9000)
        try devices[0].answer(at: 9000)
        #expect(names(of: devices[0]).last == "new" && devices[0].state.members.count == 13)
        // One is enough.
        #expect(!devices[11].log.owesAcknowledgement(devices[11].id))
        try devices[10].receive(devices[0])
        #expect(!devices[10].log.owesAcknowledgement(devices[10].id))
    }
}
