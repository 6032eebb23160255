import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostSync
@testable import LocalDataHost

@Suite("A removal from a sync group is final") struct GroupFinalityTests {
    /// Devices of a group that have answered all that they know.
    private func group(of names: String...) throws -> [TestDevice] {
        var devices = try makeGroup(of: names, try GroupProvider.sodium.crypto())
        try settle(&devices)
        return devices
    }

    private func settle(_ devices: inout [TestDevice]) throws {
        for _ in 0..<3 {
            for index in devices.indices { try devices[index].answer() }
            try exchange(&devices)
        }
    }

    private func names(_ device: TestDevice) -> [String] { device.state.members.map(\.name) }

    @Test("the first device of a group, once removed, invites nobody and removes nobody with an old copy")
    func seniorThief() throws {
        var devices = try group(of: "desk", "laptop", "phone")
        var thief = devices[0]
        try devices[1].remove(devices[0].id)
        let epoch = devices[1].state.epoch
        try devices[2].receive(devices[1])
        try devices[2].answer()
        let evil = try thief.admit("laptop-2")
        try thief.receive(evil)
        try thief.remove(devices[1].id, at: 1)
        try thief.remove(devices[2].id, at: 1)
        var members = Array(devices[1...])
        for index in members.indices {
            try members[index].receive(evil)
            try members[index].receive(thief)
        }
        try settle(&members)
        for member in members {
            #expect(names(member) == ["laptop", "phone"] && member.state.removed.map(\.name) == ["desk"])
            #expect(member.hasCurrentKey && !member.state.needsRekey && member.state.epoch == epoch)
        }
        // Whoever comes later sees the same, and the removed devices have no key of what follows.
        var new = try members[0].admit("new")
        try new.receive(thief)
        #expect(names(new) == ["laptop", "phone", "new"])
        try thief.receive(members[0])
        #expect(!thief.hasCurrentKey)
    }

    @Test("a device that joined by an invitation of a removed one stays if a third device had taken that in before")
    func witnessed() throws {
        var devices = try group(of: "a", "b", "c", "d")
        var new = try devices[1].admit("new")
        try devices[2].receive(new)
        try devices[2].answer()
        // A does not know of the new device.
        try devices[0].remove(devices[1].id)
        try devices[0].receive(new)
        #expect(names(devices[0]) == ["a", "c", "d"], "nobody but the removed device has taken it in")
        try devices[0].receive(devices[2])
        #expect(names(devices[0]) == ["a", "c", "d", "new"])
        // The device itself is no witness of its own join.
        try new.receive(devices[0])
        #expect(new.state == devices[0].state)
        try devices[3].receive(new)
        #expect(devices[3].state == devices[0].state)
    }

    @Test("of two members that remove each other, the one stays whose removal a third one knew first")
    func witnessedMutualRemoval() throws {
        for senior in [0, 1] {
            var devices = try group(of: "a", "b", "c")
            let (winner, loser) = (senior, 1 - senior)
            try devices[winner].remove(devices[loser].id)
            try devices[2].receive(devices[winner])
            try devices[2].answer()
            try devices[loser].remove(devices[winner].id)
            try exchange(&devices)
            for device in devices { #expect(names(device) == [["a", "b"][winner], "c"]) }
        }
    }

    @Test("a removal that leaves out what its author has said before does not choose who is a witness against it")
    func leavingOut() throws {
        for rule in [nil, GroupRule.nothingIsLeftOut] {
            var devices = try group(of: "a", "b")
            devices.append(try devices[1].admit("c"))
            try settle(&devices)
            var thief = devices[0]
            try devices[1].remove(thief.id)
            try devices[2].receive(devices[1])
            try devices[2].answer()
            try devices[1].receive(devices[2])
            // As if it did not know that the witness has joined, whom the remover has invited.
            let joins = thief.log.graph.entries.filter {
                $0.profile != nil && [thief.id, devices[1].id].contains($0.author)
            }
            try thief.force(
                .remove(devices[1].id, thief.epochKeys(for: [thief.id])), after: joins.map(\.id), at: 1)
            devices[1].log.leavesOut = rule
            try devices[1].receive(thief)
            #expect((names(devices[1]) == ["b", "c"]) == (rule == nil))
        }
    }

    @Test("the recovery code beats seniority and witnesses, also if this device knows that it was removed")
    func recoveryCode() throws {
        var devices = try group(of: "desk", "laptop", "phone")
        let code = try RecoveryCode(code: try #require(devices[0].code).text.lowercased(), devices[0].crypto)
        var thief = devices[0]
        try thief.remove(devices[1].id)
        let evil = try thief.admit("evil")
        try thief.receive(evil)
        try devices[2].receive(thief)
        try devices[2].answer()
        try devices[1].receive(devices[2])
        #expect(names(devices[1]) == ["desk", "phone", "evil"])
        #expect(throws: StorageError.permissionDenied) { try devices[1].remove(thief.id) }
        try devices[1].remove(thief.id, with: code)
        #expect(names(devices[1]) == ["laptop", "phone"])
        var members = Array(devices[1...])
        try settle(&members)
        for member in members { #expect(names(member) == ["laptop", "phone"] && member.hasCurrentKey) }
        try thief.receive(members[0])
        #expect(!thief.hasCurrentKey && names(thief) == ["laptop", "phone"])
        // The code of another group is none.
        let other = try RecoveryCode(creatingWith: devices[0].crypto)
        #expect(throws: StorageError.permissionDenied) { try members[0].remove(members[1].id, with: other) }
        #expect(throws: StorageError.cannotOpen) {
            let keys = try members[0].epochKeys(for: [members[0].id])
            let signed = try GroupEntry.signed(
                .remove(members[1].id, keys, withCode: true), of: members[0].log.group, by: members[0].device, at: 1,
                after: members[0].log.heads, code: other, members[0].crypto)
            _ = try members[0].log.publish(signed)
        }
    }

    @Test("nothing that a removed device adds is kept, is a parent, or counts for the log's limit")
    func junk() throws {
        var devices = try group(of: "desk", "laptop", "tablet")
        let removed = devices[2]
        try devices[0].remove(removed.id)
        try devices[1].receive(devices[0])
        let before = devices[0].log
        var thief = removed
        let join = try #require(thief.log.graph.entries.first { $0.author == thief.id }).id
        for time in 0..<500 { try thief.force(.acknowledge, after: [join], at: UInt64(time)) }
        let junk = thief.log.entries
        #expect(junk.count > 500)
        for index in 0..<2 {
            // Those that are in memory are in the way of nobody.
            for entry in junk.suffix(200) { try devices[index].log.add(entry) }
            #expect(devices[index].log.heads.count <= 2 && devices[index].log.entries.count <= before.entries.count + 1)
            devices[index].log.add(contentsOf: junk)
            #expect(devices[index].log.graph.entries.count <= before.entries.count + 1 + GroupLog.mostVoid)
        }
        #expect(devices[0].log.state == before.state)
        // The group goes on: a second stolen device is removed, and a new one joins.
        try devices[0].remove(devices[1].id)
        let new = try devices[0].admit("new")
        #expect(names(new) == ["desk", "new"])
        let entry = try #require(devices[0].log.graph.entries.last)
        #expect(entry.parents.count <= 2 && !entry.parents.contains(join))
    }

    @Test("what was not kept, since it did not count, is found again once a witness shows that it does")
    func found() throws {
        var devices = try group(of: "a", "b", "c")
        let new = try devices[1].admit("new")
        try devices[2].receive(new)
        try devices[2].answer()
        try devices[0].remove(devices[1].id)
        // As a device that has read them, and has stored its log since.
        devices[0].log.add(contentsOf: new.log.entries)
        var stored = GroupLog(of: devices[0].keys, devices[0].crypto)
        stored.owner = devices[0].id
        stored.add(contentsOf: devices[0].log.entries)
        #expect(stored.state == devices[0].log.state && !stored.lacksParents)
        let last = try #require(devices[2].log.identified.last { entry in !new.log.entries.contains(entry.published) })
        stored.add(contentsOf: [last.published])
        #expect(stored.lacksParents)
        stored.add(contentsOf: devices[2].log.entries)
        #expect(!stored.lacksParents && stored.state.members.map(\.name) == ["a", "c", "new"])
    }

    @Test("members acknowledge what others did once, and acknowledgements are not acknowledged")
    func acknowledging() throws {
        var devices = try group(of: "a", "b", "c")
        let count = devices[0].log.entries.count
        try settle(&devices)
        #expect(devices.allSatisfy { $0.log.entries.count == count && !$0.log.owesAcknowledgement($0.id) })
        try devices[0].remove(devices[1].id)
        try devices[2].receive(devices[0])
        #expect(!devices[0].log.owesAcknowledgement(devices[0].id) && devices[2].log.owesAcknowledgement(devices[2].id))
    }

    @Test("the time that a log takes to read grows with its entries only, also with those of a removed device")
    func linear() throws {
        var devices = try group(of: "desk", "laptop", "tablet")
        let join = try #require(devices[2].log.graph.entries.first { $0.author == devices[2].id }).id
        var junk: [Data] = []
        for time in 0..<1600 {
            let signed = try GroupEntry.signed(
                .acknowledge, of: devices[2].log.group, by: devices[2].device, at: UInt64(time), after: [join],
                devices[2].crypto)
            junk.append(try PublishedEntry.sealing(signed, with: devices[2].keys.logKey, devices[2].crypto))
        }
        try devices[0].remove(devices[2].id)
        func time(_ count: Int) -> Duration {
            var log = devices[0].log
            return ContinuousClock().measure { log.add(contentsOf: junk.prefix(count)) }
        }
        _ = time(100)
        let (few, many) = (time(400), time(1600))
        #expect(many < few * 10, "\(few) for 400, \(many) for 1600")
    }
}
