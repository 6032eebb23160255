import FoundationEssentials
import LocalDataAPI
import Testing

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
