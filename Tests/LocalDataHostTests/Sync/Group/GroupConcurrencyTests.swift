import FoundationEssentials
import LocalDataAPI
import Testing
@testable import HostPlugins
@testable import HostSync
@testable import LocalDataHost

@Suite("Concurrent changes of a sync group's members") struct GroupConcurrencyTests {
    @Test("when two members remove each other at the same time, the senior stays")
    func mutualRemoval() throws {
        var devices = try makeGroup(of: ["a", "b", "c"], try GroupProvider.openssl.crypto())
        let ids = devices.map(\.id)
        // The junior's clock is earlier.
        try devices[2].remove(ids[1], at: 10)
        try devices[1].remove(ids[2], at: 9000)
        try exchange(&devices)
        for device in devices {
            #expect(device.state.members.map(\.id) == [ids[0], ids[1]] && device.state.removed.map(\.id) == [ids[2]])
            #expect(device.state.epoch.number == 1 && !device.state.needsRekey)
        }
        #expect(devices[0].hasCurrentKey && devices[1].hasCurrentKey && !devices[2].hasCurrentKey)
    }

    @Test("concurrent removals of two others leave a key that a removed device knows, until a member rekeys")
    func twoRemovals() throws {
        var devices = try makeGroup(of: ["a", "b", "c", "d"], try GroupProvider.openssl.crypto())
        let ids = devices.map(\.id)
        try devices[0].remove(ids[2])
        try devices[1].remove(ids[3])
        try exchange(&devices)
        for device in devices {
            #expect(device.state.members.map(\.id) == [ids[0], ids[1]])
            #expect(device.state.needsRekey)
        }
        #expect(devices[2].hasCurrentKey != devices[3].hasCurrentKey, "one of them knows the key")
        try devices[0].rekey()
        try exchange(&devices)
        #expect(devices.map(\.hasCurrentKey) == [true, true, false, false])
        #expect(devices.allSatisfy { !$0.state.needsRekey && $0.state.epoch.number == 2 })
    }

    @Test("what a member does while a junior removes it is void if no other member knew it, except by seniority")
    func seniorRemovesJunior() throws {
        var devices = try makeGroup(of: ["a", "b", "c"], try GroupProvider.openssl.crypto())
        let ids = devices.map(\.id)
        try devices[2].remove(ids[0])
        try devices[0].receive(devices[0].admit("new"))
        #expect(devices[0].state.members.count == 4)
        try devices[0].receive(devices[2])
        #expect(devices[0].state.members.map(\.name) == ["b", "c"], "neither a nor a's invitation stands")
        #expect(!devices[0].state.needsRekey)
        // The same again, but a had removed c at the same time.
        devices = try makeGroup(of: ["a", "b", "c"], try GroupProvider.openssl.crypto())
        try devices[2].remove(devices[0].id)
        try devices[0].remove(devices[2].id)
        try exchange(&devices)
        #expect(devices.allSatisfy { $0.state.members.map(\.name) == ["a", "b"] })
    }

    @Test("the first join under an invitation wins, and the other device's key is replaced")
    func oneCodeTwoDevices() throws {
        var first = try TestDevice(creating: "a", try GroupProvider.openssl.crypto())
        let code = try first.invite()
        let entries = first.log.entries
        let early = try TestDevice(joining: entries, by: code, "early", at: 2000, first.crypto)
        var late = try TestDevice(joining: entries, by: code, "late", at: 2001, first.crypto)
        try first.receive(late)
        #expect(first.state.members.map(\.name) == ["a", "late"] && !first.state.needsRekey)
        try first.receive(early)
        #expect(first.state.members.map(\.name) == ["a", "early"])
        #expect(first.state.isKnownByCode, "the other one has the key")
        try first.rekey()
        try late.receive(first)
        #expect(!late.hasCurrentKey && !first.state.isKnownByCode)
    }

    @Test("a join counts if it is concurrent with a removal by a member without the invitation, and needs a rekey")
    func joinBesideRemoval() throws {
        var devices = try makeGroup(of: ["a", "b", "c"], try GroupProvider.openssl.crypto())
        devices.append(try devices[0].admit("new"))
        try devices[1].remove(devices[2].id)
        try exchange(&devices)
        for device in devices { #expect(device.state.members.map(\.name) == ["a", "b", "new"]) }
        #expect(devices[3].state.needsRekey && !devices[3].hasCurrentKey)
        try devices[0].rekey()
        try exchange(&devices)
        #expect(devices.map(\.hasCurrentKey) == [true, true, false, true] && !devices[0].state.needsRekey)
    }

    @Test("the last member cannot leave, and the group keeps one if all leave at the same time")
    func lastMember() throws {
        var devices = try makeGroup(of: ["a", "b"], try GroupProvider.openssl.crypto())
        var alone = try TestDevice(creating: "alone", devices[0].crypto)
        #expect(throws: StorageError.unsupported) { try alone.remove(alone.id) }
        #expect(throws: StorageError.corrupt) {
            try alone.force(.remove(alone.id, alone.epochKeys(for: [])))
        }
        try devices[0].remove(devices[0].id, at: 3000)
        try devices[1].remove(devices[1].id, at: 3001)
        try exchange(&devices)
        #expect(devices.allSatisfy { $0.state.members.map(\.name) == ["b"] && $0.state.removed.map(\.name) == ["a"] })
        devices = try makeGroup(of: ["a", "b"], devices[0].crypto)
        try devices[0].forget(devices[1].id)
        try devices[1].forget(devices[0].id)
        try exchange(&devices)
        #expect(devices.allSatisfy { $0.state.members.map(\.name) == ["a"] && $0.state.forgotten.map(\.name) == ["b"] })
    }

    @Test("a member that leaves knows the key that it made, so another member rekeys")
    func leaving() throws {
        var devices = try makeGroup(of: ["a", "b", "c"], try GroupProvider.openssl.crypto())
        try devices[0].remove(devices[0].id)
        try exchange(&devices)
        #expect(devices.allSatisfy { $0.state.members.map(\.name) == ["b", "c"] && $0.state.needsRekey })
        try devices[1].rekey()
        try exchange(&devices)
        #expect(devices.map(\.hasCurrentKey) == [false, true, true] && !devices[1].state.needsRekey)
    }

    @Test("members that distrust each other in a circle still agree")
    func circle() throws {
        let crypto = try GroupProvider.openssl.crypto()
        var devices = try makeGroup(of: ["z", "x", "y", "v"], crypto)
        let ids = devices.map(\.id)
        // Y removes X, V removes Z; X knows that and removes V, Z knows that and removes Y: each voids another.
        try devices[2].remove(ids[1])
        try devices[3].remove(ids[0])
        try devices[1].receive(devices[2])
        try devices[0].receive(devices[3])
        try devices[1].force(.remove(ids[3], devices[1].epochKeys(for: [ids[0], ids[1], ids[2]])))
        try devices[0].force(.remove(ids[2], devices[0].epochKeys(for: [ids[0], ids[1], ids[3]])))
        let logs = devices.map(\.log.entries)
        try exchange(&devices)
        #expect(
            Set(devices.map(\.state.members.count)).count == 1 && devices.allSatisfy { $0.state == devices[0].state })
        #expect(devices[0].state.members.map(\.name) == ["z", "x"], "the senior ones win")
        var other = GroupLog(of: devices[0].keys, crypto)
        other.add(contentsOf: logs.reversed().joined().reversed())
        #expect(other.state == devices[0].state)
    }
}
