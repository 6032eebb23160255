import LocalDataAPI
import Testing
@testable import HostSync
@testable import LocalDataHost

@Suite("Forgotten devices and invitations of a sync group") struct GroupInvitationTests {
    @Test("a forgotten device loses the key, is no member until it joins again, and is then the most junior one")
    func forgetting() throws {
        var devices = try makeGroup(of: ["a", "b", "c"], try GroupProvider.openssl.crypto())
        try devices[0].forget(devices[1].id)
        try exchange(&devices)
        for device in devices {
            #expect(device.state.members.map(\.name) == ["a", "c"] && device.state.forgotten.map(\.name) == ["b"])
            #expect(device.state.needsRekey, "the forgotten device has the key")
        }
        try devices[0].rekey()
        try exchange(&devices)
        #expect(devices.map(\.hasCurrentKey) == [true, false, true] && !devices[0].state.needsRekey)
        #expect(throws: StorageError.permissionDenied) { _ = try devices[1].invite() }
        let before = devices[0].state
        try devices[1].force(.forget(devices[0].id))
        try devices[0].receive(devices[1])
        #expect(devices[0].state == before)
        try devices[2].remove(devices[0].id)
        let code = try devices[2].invite()
        devices[1] = try TestDevice(
            joining: devices[2].log.entries, by: code, "b again", as: devices[1].device, devices[1].crypto)
        try exchange(&devices)
        #expect(devices.allSatisfy { $0.state.members.map(\.name) == ["c", "b again"] && $0.state.forgotten.isEmpty })
        #expect(devices.map(\.hasCurrentKey) == [false, true, true])
    }

    @Test("an invitation ends when it expires, when it is used, when it is revoked, and when a device is removed")
    func ends() throws {
        var device = try TestDevice(creating: "a", try GroupProvider.openssl.crypto())
        func joining(_ code: String, at time: UInt64) throws -> TestDevice {
            try TestDevice(joining: device.log.entries, by: code, "b", at: time, device.crypto)
        }
        func refusal(_ code: String, at time: UInt64) throws -> String {
            try #require(throws: StorageError.self) { _ = try joining(code, at: time) }.message
        }
        let code = try device.invite(until: 2000)
        #expect(device.state.invitations.map(\.expiry) == [2000] && device.state.invitations[0].author == device.id)
        #expect(device.state.invitations[0].isOpen(at: 2000) && !device.state.invitations[0].isOpen(at: 2001))
        #expect(try refusal(code, at: 2001) == "the invitation has expired")
        let other = try joining(code, at: 2000)
        try device.receive(other)
        #expect(device.state.members.count == 2 && device.state.invitations.isEmpty)
        #expect(try refusal(code, at: 2000).contains("was used"))
        let second = try device.invite()
        try device.rekey()
        #expect(device.state.invitations.count == 1, "an epoch alone ends none")
        try device.rekey { _ in true }
        #expect(device.state.invitations.isEmpty)
        #expect(try refusal(second, at: 2000).contains("ended it"))
        let third = try device.invite()
        try device.remove(other.id)
        #expect(device.state.invitations.isEmpty)
        #expect(try refusal(third, at: 2000).contains("ended it"))
    }

    @Test("a join after the expiry is refused by all")
    func lateJoin() throws {
        var device = try TestDevice(creating: "a", try GroupProvider.openssl.crypto())
        let code = try device.invite(until: 2000)
        let invite = try #require(device.log.heads.first)
        let keys = try DeviceKeys(creatingWith: device.crypto)
        let profile = GroupEntry.DeviceProfile(agreementKey: keys.agreementPublicKey, role: .all, name: "late")
        let signed = try GroupEntry.signed(
            .join(invite: invite, profile), of: device.log.group, by: keys, at: 2001, after: [invite],
            invitation: Invitation(code: code, device.crypto), device.crypto)
        #expect(throws: StorageError.corrupt) { _ = try device.log.publish(signed) }
        #expect(device.log.refused == 1)
    }

    @Test("a new device gets the keys of former epochs, and needs the right code")
    func formerEpochs() throws {
        var device = try TestDevice(creating: "a", try GroupProvider.openssl.crypto())
        for time in 1...3 { try device.rekey(at: UInt64(time)) }
        let new = try device.admit("b")
        #expect(new.keys.knownEpochs == device.keys.knownEpochs && new.keys.knownEpochs.count == 4)
        let stranger = try Invitation(creatingWith: device.crypto).code
        #expect(throws: StorageError.notFound) {
            _ = try TestDevice(joining: device.log.entries, by: stranger, "c", device.crypto)
        }
    }

    @Test(
        "names that could confuse a terminal are refused",
        arguments: ["", "a\u{1b}[31m", "a\nb", "\u{9b}", String(repeating: "x", count: 129)])
    func names(_ name: String) throws {
        #expect(throws: StorageError.invalidOptions) {
            _ = try TestDevice(creating: name, try GroupProvider.openssl.crypto())
        }
    }
}
