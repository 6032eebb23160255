import LocalDataAPI
import Testing
@testable import HostGround
@testable import HostSync
@testable import HostTransfer
@testable import LocalDataHost

@Suite("Members of a sync group") struct GroupMembershipTests {
    @Test(
        "a device creates a group, and others join by codes, in the order of seniority",
        arguments: GroupProvider.allCases)
    func joining(_ provider: GroupProvider) throws {
        let devices = try makeGroup(of: ["desk", "phone", "watch"], provider.crypto())
        for device in devices {
            let state = device.state
            #expect(state.members.map(\.id) == devices.map(\.id))
            #expect(state.members.map(\.name) == ["desk", "phone", "watch"])
            #expect(state.members.map(\.role) == [.all, .phone, .phone])
            #expect(state.members.map(\.since) == [1000, 2000, 2001])
            #expect(state.members.map(\.signingKey) == devices.map(\.device.signingPublicKey))
            #expect(state.members.map(\.agreementKey) == devices.map(\.device.agreementPublicKey))
            #expect(state.removed.isEmpty && state.forgotten.isEmpty && state.invitations.isEmpty)
            #expect(state.epoch.number == 0 && device.hasCurrentKey && !state.needsRekey)
            #expect(state.group == devices[0].log.group && state.epoch.id == state.group.epoch)
        }
    }

    @Test("members with different providers read each other's log")
    func mixedProviders() throws {
        let (openssl, sodium) = (try GroupProvider.openssl.crypto(), try GroupProvider.sodium.crypto())
        var first = try TestDevice(creating: "first", openssl)
        var second = try first.admit("second", sodium)
        var third = try second.admit("third", openssl)
        try second.receive(third)
        try second.remove(third.id)
        try first.receive(second)
        try third.receive(second)
        #expect(first.state == second.state && first.state == third.state)
        #expect(first.state.epoch.number == 1 && first.hasCurrentKey && second.hasCurrentKey && !third.hasCurrentKey)
    }

    @Test("a removed device gets no key of the new epoch, and the remaining ones do")
    func removal() throws {
        var devices = try makeGroup(of: ["a", "b", "c"], try GroupProvider.openssl.crypto())
        try devices[1].remove(devices[2].id)
        try exchange(&devices)
        for device in devices {
            #expect(device.state.members.map(\.id) == devices[..<2].map(\.id))
            #expect(device.state.removed.map(\.name) == ["c"])
            #expect(device.state.epoch.number == 1 && !device.state.needsRekey)
        }
        #expect(devices[0].hasCurrentKey && devices[1].hasCurrentKey && !devices[2].hasCurrentKey)
    }

    @Test("entries of a removed device never count, even those that need no right")
    func removedDevice() throws {
        var devices = try makeGroup(of: ["a", "b", "c", "d"], try GroupProvider.openssl.crypto())
        try devices[0].remove(devices[2].id)
        try devices[2].receive(devices[0])
        #expect(throws: StorageError.permissionDenied) { _ = try devices[2].invite() }
        #expect(throws: StorageError.permissionDenied) { try devices[2].remove(devices[1].id) }
        #expect(throws: StorageError.permissionDenied) { try devices[2].rekey() }
        #expect(throws: StorageError.permissionDenied) { try devices[2].forget(devices[1].id) }
        let before = devices[0].state
        let ids = devices.map(\.id)
        try devices[2].force(.remove(ids[0], devices[2].epochKeys(for: [ids[1], ids[2]])))
        try devices[2].force(.rekey(devices[2].epochKeys(for: ids), .init()))
        try devices[2].force(.forget(ids[1]))
        try devices[0].receive(devices[2])
        #expect(devices[0].state == before)
        #expect(devices[0].log.refused == 0)
    }

    @Test("a removed device that pretends not to know of it changes nothing, if a senior one removed it")
    func backdating() throws {
        var devices = try makeGroup(of: ["a", "b", "c"], try GroupProvider.openssl.crypto())
        var old = devices[2]
        try devices[1].remove(devices[2].id)
        try devices[0].receive(devices[1])
        let before = devices[0].state
        // As if it had not received its removal: with its own parents and clock.
        let code = try old.invite(at: 1)
        var helper = try TestDevice(joining: old.log.entries, by: code, "helper", at: 1, old.crypto)
        try old.force(.rekey(old.epochKeys(for: old.state.members.map(\.id)), .init()), at: 1)
        try old.force(.forget(devices[1].id), at: 1)
        try helper.receive(old)
        try devices[0].receive(helper)
        #expect(devices[0].state.members == before.members && devices[0].state.removed == before.removed)
        #expect(devices[0].state.epoch == before.epoch && !devices[0].state.needsRekey)
        #expect(!helper.hasCurrentKey)
    }

    @Test("a removed device cannot rejoin by an invitation that it knows")
    func comingBack() throws {
        var devices = try makeGroup(of: ["a", "b"], try GroupProvider.openssl.crypto())
        let code = try devices[1].invite()
        try devices[0].receive(devices[1])
        let before = devices[1].log.entries
        try devices[0].remove(devices[1].id)
        let after = devices[0].log.entries
        // With the old log, the join can be made, but is void for all that know the removal.
        var back = try TestDevice(joining: before, by: code, "back", at: 1, devices[1].crypto)
        try devices[0].receive(back)
        #expect(devices[0].state.members.map(\.name) == ["a"] && !devices[0].state.needsRekey)
        try back.receive(devices[0])
        #expect(back.state == devices[0].state && !back.hasCurrentKey)
        let error = #expect(throws: StorageError.self) {
            _ = try TestDevice(joining: after, by: code, "back", devices[1].crypto)
        }
        #expect(error?.message.contains("ended it") == true)
        // Nor can it rejoin with a new invitation and its old keys.
        let second = try devices[0].invite()
        #expect(throws: StorageError.cannotOpen) {
            _ = try TestDevice(
                joining: devices[0].log.entries, by: second, "back", as: devices[1].device, devices[1].crypto)
        }
    }
}
