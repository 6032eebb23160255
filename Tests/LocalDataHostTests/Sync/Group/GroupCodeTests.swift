import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostGround
@testable import HostMigration
@testable import HostPlugins
@testable import HostSealing
@testable import HostStores
@testable import HostSync
@testable import HostTransfer
@testable import LocalDataHost

/// What somebody can do with the code of an invitation, and until when.
@Suite("What an invitation's code opens") struct GroupCodeTests {
    private func first() throws -> TestDevice { try TestDevice(creating: "a", try GroupProvider.openssl.crypto()) }

    private func joining(_ device: TestDevice, _ code: String, _ name: String, at time: UInt64) throws -> TestDevice {
        try TestDevice(joining: device.log.entries, by: code, name, at: time, device.crypto)
    }

    @Test("once a device has joined, its code opens nothing that members seal, and what was sealed goes on counting")
    func used() throws {
        var device = try first()
        let finder = CodeFinder(code: try device.invite(until: 3000))
        let before = device.state.epoch
        var new = try joining(device, finder.code, "b", at: 2000)
        #expect(try finder.opensCurrent(new) && new.state.isKnownByCode && !new.state.needsRekey)
        // The new device itself does it before it publishes anything, and so does every other that takes in the join.
        try new.answer(at: 2001)
        #expect(try !finder.opensCurrent(new) && !new.state.isKnownByCode && new.hasCurrentKey)
        try device.receive(new)
        try device.answer(at: 2002)
        try new.receive(device)
        for member in [device, new] {
            #expect(try !finder.opensCurrent(member))
            #expect(member.hasCurrentKey && !member.state.needsRekey && !member.state.isKnownByCode)
            #expect(member.state.epoch.id != before.id && member.state.epoch.era.contains(before.id))
            #expect(member.state.epoch.mark == before.mark)
        }
    }

    @Test("a code that nobody has used opens nothing that members seal when its time is over, and nobody joins by it")
    func expired() throws {
        var device = try first()
        let finder = CodeFinder(code: try device.invite(until: 3000))
        let old = device
        try device.answer(at: 3000)
        #expect(try finder.opensCurrent(device) && device.state.invitations.count == 1)
        try device.answer(at: 3001)
        #expect(try !finder.opensCurrent(device) && device.state.invitations.isEmpty && device.hasCurrentKey)
        // With an old copy of what was published, and a clock that was set back.
        let thief = try joining(old, finder.code, "thief", at: 2500)
        try device.receive(thief)
        #expect(device.state.members.map(\.name) == ["a"])
        try device.answer(at: 3002)
        #expect(try !finder.opensCurrent(device) && device.hasCurrentKey && !device.log.owesEpoch(device.id, at: 3003))
    }

    @Test("if the carrier keeps back that a device has used a code, it opens what others seal until its time is over")
    func keptBack() throws {
        var device = try first()
        let finder = CodeFinder(code: try device.invite(until: 3000))
        var new = try joining(device, finder.code, "b", at: 2000)
        try new.answer(at: 2001)
        try device.answer(at: 2900)
        #expect(try finder.opensCurrent(device) && !finder.opensCurrent(new))
        try device.answer(at: 3001)
        #expect(try !finder.opensCurrent(device))
    }

    @Test("a join that arrives after its invitation's end does not count, whatever time it says")
    func late() throws {
        var devices = try makeGroup(of: ["a", "b"], try GroupProvider.openssl.crypto())
        let code = try devices[0].invite(until: 3000)
        let thief = try joining(devices[0], code, "thief", at: 2500)
        // The second one has not even seen the invitation before.
        for (index, time) in [(0, UInt64(9000)), (1, 9001)] {
            _ = try devices[index].log.take(thief.log.entries, by: devices[index].device, at: time)
            try devices[index].open()
            #expect(devices[index].state.members.map(\.name) == ["a", "b"] && devices[index].hasCurrentKey)
        }
        try exchange(&devices)
        for device in devices {
            #expect(device.state == devices[0].state && device.state.members.map(\.name) == ["a", "b"])
            #expect(try !CodeFinder(code: code).opensCurrent(device))
        }
    }

    @Test("joins by the invitation of a device whose own join arrives too late do not count either")
    func lateChain() throws {
        var devices = try makeGroup(of: ["a", "b"], try GroupProvider.openssl.crypto())
        let code = try devices[1].invite(until: 3000)
        var phone = try joining(devices[1], code, "phone", at: 2500)
        let other = try phone.invite(until: 3500, at: 2600)
        let watch = try joining(phone, other, "watch", at: 2700)
        for (index, time) in [(0, UInt64(9000)), (1, 9001)] {
            try devices[index].take(watch, at: time)
            try devices[index].answer(at: time)
        }
        try exchange(&devices)
        for device in devices {
            #expect(device.state == devices[0].state && device.state.members.map(\.name) == ["a", "b"])
            #expect(try device.hasCurrentKey && !CodeFinder(code: code).opensCurrent(device))
        }
    }

    @Test("a late join does not count either if it arrives before the invitation")
    func lateBeforeInvitation() throws {
        var devices = try makeGroup(of: ["a", "b"], try GroupProvider.openssl.crypto())
        let code = try devices[1].invite(until: 3000)
        let thief = try joining(devices[1], code, "thief", at: 2500)
        try devices[0].take(thief.log.entries.suffix(1), at: 9000)
        #expect(devices[0].log.waitingCount == 1)
        try devices[0].take(thief.log.entries, at: 9001)
        try devices[1].receive(devices[0])
        for device in devices {
            #expect(device.state == devices[0].state && device.state.members.map(\.name) == ["a", "b"])
        }
    }

    @Test("a device that is a member only by what a late one has said leaves it to others to end that one's code")
    func lateSupport() throws {
        var device = try first()
        let codes = [try device.invite(until: 3000), try device.invite(until: 5000)]
        let invite = try #require(device.log.heads.first)
        var phone = try joining(device, codes[1], "phone", at: 2000)
        // With a time of its choice, it comes first.
        let thief = try joining(device, codes[1], "thief", at: 1)
        var watch = try joining(phone, codes[0], "watch", at: 2500)
        // It does not know the thief, whose join is void by this.
        _ = try watch.log.rekey(by: watch.device, at: 2600, naming: [invite])
        let entries = thief.log.entries + watch.log.entries
        try phone.take(entries, at: 4000)
        #expect(phone.state.members.map(\.name) == ["a", "phone", "watch"])
        try device.take(entries, at: 9000)
        try device.answer(at: 9000)
        try phone.receive(device)
        #expect(device.state == phone.state && device.state.members.map(\.name) == ["a"])
    }

    @Test("a join that another member has taken in in time counts for those that learn of it later, too")
    func takenIn() throws {
        var devices = try makeGroup(of: ["a", "b"], try GroupProvider.openssl.crypto())
        let code = try devices[0].invite(until: 3000)
        var new = try joining(devices[0], code, "c", at: 2500)
        _ = try devices[0].log.take(new.log.entries, by: devices[0].device, at: 2900)
        try devices[0].open()
        try devices[0].answer(at: 2900)
        let entries = devices[0].log.entries.shuffled()
        _ = try devices[1].log.take(entries, by: devices[1].device, at: 9000)
        try devices[1].open()
        try devices[1].answer(at: 9000)
        try new.receive(devices[1])
        for device in devices + [new] {
            #expect(device.state.members.map(\.name) == ["a", "b", "c"] && device.hasCurrentKey)
        }
    }

    @Test("an invitation that is still open gives the keys of epochs that others' joins have begun")
    func twoCodes() throws {
        var device = try first()
        let codes = [try device.invite(until: 5000), try device.invite(until: 5000)]
        var phone = try joining(device, codes[0], "phone", at: 2000)
        try phone.answer(at: 2001)
        try device.receive(phone)
        try device.answer(at: 2002)
        var tablet = try joining(device, codes[1], "tablet", at: 3000)
        #expect(device.state.epoch.era.isSubset(of: tablet.keys.knownEpochs))
        try tablet.answer(at: 3001)
        var devices = [device, phone, tablet]
        try exchange(&devices)
        for member in devices {
            #expect(member.state.members.map(\.name) == ["a", "phone", "tablet"])
            #expect(member.state.epoch.era.isSubset(of: member.keys.knownEpochs) && !member.state.needsRekey)
            for code in codes { #expect(try !CodeFinder(code: code).opensCurrent(member)) }
        }
    }

    @Test("two devices that join without knowledge of each other are both members, and have all keys in the end")
    func twoJoins() throws {
        var device = try first()
        let codes = [try device.invite(until: 5000), try device.invite(until: 5000)]
        var devices = [device] + (try codes.map { try joining(device, $0, "new", at: 2000) })
        for index in devices.indices { try devices[index].answer(at: 2001) }
        try exchange(&devices)
        for _ in 0..<2 {
            for index in devices.indices {
                try devices[index].answer(at: 2002)
                try exchange(&devices)
            }
        }
        for member in devices {
            #expect(member.state.members.count == 3 && member.state.epoch.era.isSubset(of: member.keys.knownEpochs))
            #expect(!member.log.owesEpoch(member.id, at: 2003))
            for code in codes { #expect(try !CodeFinder(code: code).opensCurrent(member)) }
        }
    }

    @Test("a member that lacks the key of an epoch which began beside its join gets all that counts under a new one")
    func joinBesideEpoch() throws {
        var devices = try makeGroup(of: ["a", "b"], try GroupProvider.openssl.crypto())
        let code = try devices[0].invite(until: 5000)
        var new = try joining(devices[0], code, "c", at: 2000)
        // It does not know of the invitation.
        try devices[1].rekey(at: 2001)
        devices.append(new)
        try exchange(&devices)
        new = devices[2]
        #expect(new.state.needsRekey)
        try devices[1].answer(at: 2003)
        try exchange(&devices)
        for member in devices {
            #expect(member.hasCurrentKey && !member.state.needsRekey && !member.state.isKnownByCode)
            #expect(member.state.epoch.era == [member.state.epoch.id])
        }
    }

    @Test("the invitation of a device that was forgotten ends with the epoch that follows")
    func ofForgotten() throws {
        var devices = try makeGroup(of: ["a", "b"], try GroupProvider.openssl.crypto())
        let code = try devices[1].invite()
        let copy = devices[1]
        try devices[0].receive(devices[1])
        try devices[0].forget(devices[1].id)
        try devices[0].answer()
        #expect(devices[0].state.invitations.isEmpty)
        try devices[0].receive(try joining(copy, code, "thief", at: 2500))
        #expect(devices[0].state.members.map(\.name) == ["a"])
    }

    @Test("a code that the only device left has ended lets nobody in in its place, though others had forgotten it")
    func ofForgottenByForgotten() throws {
        var devices = try makeGroup(of: ["a", "b", "c"], try GroupProvider.openssl.crypto())
        let code = try devices[2].invite(until: 3000)
        let copy = devices[2]
        // Each time, the others do not know of it yet.
        try devices[0].forget(devices[2].id)
        try devices[1].forget(devices[0].id)
        try devices[1].remove(devices[1].id)
        for index in 1...2 { try devices[0].receive(devices[index]) }
        #expect(devices[0].state.members.map(\.name) == ["a"])
        try devices[0].answer(at: 9000)
        #expect(devices[0].state.invitations.isEmpty)
        var thief = try joining(copy, code, "thief", at: 2500)
        try thief.answer(at: 2500)
        try devices[0].take(thief, at: 9001)
        try devices[0].answer(at: 9001)
        try devices[1].receive(devices[0])
        for device in devices[...1] {
            #expect(device.state.members.map(\.name) == ["a"] && device.state == devices[0].state)
            #expect(try !CodeFinder(code: code).opensCurrent(device))
        }
    }

    @Test("a removed device that names invitations which members have used ends none of them")
    func thiefEnds() throws {
        var devices = try makeGroup(of: ["a", "b", "c"], try GroupProvider.openssl.crypto())
        var thief = devices[0]
        try devices[1].remove(thief.id)
        try devices[2].receive(devices[1])
        try devices[2].answer()
        try devices[1].receive(devices[2])
        let invites = thief.log.graph.entries.filter { if case .invite = $0.body { true } else { false } }.map(\.id)
        let renewal = GroupEntry.Renewal(continues: true, ended: invites)
        try thief.force(.rekey(thief.epochKeys(for: [thief.id]), renewal), after: invites, at: 1)
        for index in 1...2 {
            try devices[index].receive(thief)
            try devices[index].answer()
            #expect(devices[index].state.members.map(\.name) == ["b", "c"] && devices[index].hasCurrentKey)
        }
    }
}
