import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import HostSync
@testable import LocalDataHost

@Suite("Forged entries of a sync group's log") struct GroupForgeryTests {
    /// Whether a log refuses bytes, counts the refusal, and stays unchanged.
    private func refuses(_ bytes: Data, _ log: GroupLog, _ what: @autoclosure () -> String = "") -> Bool {
        var copy = log
        do throws(StorageError) {
            try copy.add(bytes)
            return false
        } catch {
            let isKnown = [.cannotOpen, .corrupt, .unsupported].contains(error.code)
            return isKnown && copy.refused == log.refused + 1 && copy.state == log.state && copy.entries == log.entries
        }
    }

    @Test("with any bit changed, or truncated anywhere, an entry is refused", arguments: GroupProvider.allCases)
    func changedBits(_ provider: GroupProvider) throws {
        var devices = try makeGroup(of: ["a", "b"], provider.crypto())
        try devices[0].forget(devices[1].id)
        let entry = try #require(devices[0].log.entries.last)
        let log = devices[1].log
        for bit in 0..<entry.count * 8 { #expect(refuses(entry.changing(bit: bit), log), "bit \(bit)") }
        for count in 0..<entry.count { #expect(refuses(entry.prefix(count), log), "\(count) bytes") }
        #expect(refuses(entry + Data([0]), log))
        // Leave out the genesis, which is checked in another way.
        let genesis = try #require(log.entries.first)
        let empty = GroupLog(of: devices[0].keys, devices[0].crypto)
        for bit in stride(from: 0, to: genesis.count * 8, by: 7) {
            #expect(refuses(genesis.changing(bit: bit), empty), "bit \(bit) of the genesis")
        }
    }

    @Test("an entry is refused if a holder of the group's secret changed any bit of the signed bytes")
    func changedSignedBytes() throws {
        var devices = try makeGroup(of: ["a", "b"], try GroupProvider.openssl.crypto())
        let crypto = devices[0].crypto
        let code = try devices[0].invite()
        let log = devices[0].log
        let invitation = try Invitation(code: code, crypto)
        let new = try DeviceKeys(creatingWith: crypto)
        let invite = try #require(log.heads.first)
        let profile = GroupEntry.DeviceProfile(agreementKey: new.agreementPublicKey, role: .watch, name: "n")
        let bodies: [(GroupEntry.Body, DeviceKeys, Invitation?)] = [
            (.forget(devices[1].id), devices[0].device, nil),
            (.join(invite: invite, profile), new, invitation),
            (.remove(devices[1].id, try devices[0].epochKeys(for: [devices[0].id])), devices[0].device, nil),
        ]
        for (body, author, invitation) in bodies {
            let signed = try GroupEntry.signed(
                body, of: log.group, by: author, at: 5000, after: [invite], invitation: invitation, crypto)
            var copy = log
            try copy.add(PublishedEntry.sealing(signed, with: devices[0].keys.logKey, crypto))
            for bit in 0..<signed.count * 8 {
                let forged = try PublishedEntry.sealing(signed.changing(bit: bit), with: devices[0].keys.logKey, crypto)
                #expect(refuses(forged, log), "bit \(bit) of \(body.kind)")
            }
            for count in stride(from: 0, to: signed.count, by: 5) {
                let cut = try PublishedEntry.sealing(signed.prefix(count), with: devices[0].keys.logKey, crypto)
                #expect(refuses(cut, log), "\(count) bytes of \(body.kind)")
            }
        }
    }

    @Test("another group's entries are refused, sealed with either group's secret")
    func foreignGroup() throws {
        let crypto = try GroupProvider.sodium.crypto()
        let (own, other) = (try makeGroup(of: ["a", "b"], crypto), try makeGroup(of: ["c", "d"], crypto))
        for entry in other[0].log.entries { #expect(refuses(entry, own[0].log)) }
        for entry in other[0].log.graph.entries {
            let signed = try GroupEntry.signed(
                entry.body, of: other[0].log.group, by: other[0].device, at: 1, after: entry.parents, crypto)
            #expect(refuses(try PublishedEntry.sealing(signed, with: own[0].keys.logKey, crypto), own[0].log))
        }
    }

    @Test("an invitation's box cannot be replaced, not even by a holder of the group's secret")
    func replacedBox() throws {
        var device = try TestDevice(creating: "a", try GroupProvider.openssl.crypto())
        let crypto = device.crypto
        let invitation = try Invitation(code: try device.invite(), crypto)
        let entry = try PublishedEntry(try #require(device.log.entries.last))
        let box = try #require(entry.invitation)
        let signed = try GroupEntry.signed(
            try #require(device.log.graph.entries.last).body, of: device.log.group, by: device.device, at: 1500,
            after: [device.log.group], crypto)
        let other = PublishedEntry.InvitationBox(id: box.id, box: try device.keys.box(for: invitation, crypto))
        for forged in [other, PublishedEntry.InvitationBox(id: InvitationID(high: 1, low: 2), box: box.box), nil] {
            let published = try PublishedEntry.sealing(
                signed, with: device.keys.logKey, invitation: forged, crypto)
            #expect(refuses(published, device.log))
            #expect(throws: StorageError.self) {
                _ = try TestDevice(
                    joining: device.log.entries.prefix(1) + [published], by: invitation.code, "b", crypto)
            }
        }
    }

    @Test("rules that depend on earlier entries are checked: the actor, the target and the right")
    func brokenRules() throws {
        let crypto = try GroupProvider.openssl.crypto()
        var devices = try makeGroup(of: ["a", "b"], crypto)
        let code = try devices[0].invite()
        let invitation = try Invitation(code: code, crypto)
        let invite = try #require(devices[0].log.heads.first)
        let stranger = try DeviceKeys(creatingWith: crypto)
        let weak = GroupEntry.DeviceProfile(agreementKey: Data(count: 32), role: .all, name: "weak")
        let profile = GroupEntry.DeviceProfile(agreementKey: stranger.agreementPublicKey, role: .all, name: "s")
        let keys = try devices[0].epochKeys(for: [devices[0].id, devices[1].id])
        let genesis = [devices[0].log.group]
        let log = devices[0].log
        func signed(
            _ body: GroupEntry.Body, by author: DeviceKeys? = nil, after parents: [EntryID],
            _ invitation: Invitation? = nil
        ) throws -> Data {
            let signed = try GroupEntry.signed(
                body, of: log.group, by: author ?? devices[0].device, at: 9, after: parents, invitation: invitation,
                crypto)
            return try PublishedEntry.sealing(signed, with: devices[0].keys.logKey, crypto)
        }
        let other = try Invitation(creatingWith: crypto)
        #expect(refuses(try signed(.rekey(keys, .init()), by: stranger, after: log.heads), log), "a stranger's")
        #expect(refuses(try signed(.forget(stranger.id), after: log.heads), log), "about a stranger")
        #expect(refuses(try signed(.forget(devices[0].id), after: log.heads), log), "about itself")
        #expect(refuses(try signed(.remove(devices[1].id, keys), after: log.heads), log), "with its key")
        #expect(refuses(try signed(.rekey(keys, .init()), after: genesis), log), "to one who had not joined")
        #expect(refuses(try signed(.join(invite: invite, profile), by: stranger, after: genesis, invitation), log))
        #expect(refuses(try signed(.join(invite: log.group, profile), by: stranger, after: [invite], invitation), log))
        #expect(refuses(try signed(.join(invite: invite, profile), by: stranger, after: [invite], other), log))
        #expect(refuses(try signed(.join(invite: invite, weak), by: stranger, after: [invite], invitation), log))
        #expect(refuses(try signed(.forget(devices[1].id), after: []), log), "without parents")
        #expect(!refuses(try signed(.join(invite: invite, profile), by: stranger, after: [invite], invitation), log))
    }

    @Test("random bytes and random changes of entries never crash, and are never accepted")
    func noise() throws {
        var devices = try makeGroup(of: ["a", "b", "c"], try GroupProvider.openssl.crypto())
        try devices[0].remove(devices[2].id)
        let log = devices[0].log
        var generator = SeededGenerator(seed: TestRun.seed)
        for round in 0..<(TestRun.isTorture ? 100_000 : 2000) {
            var bytes =
                round % 3 == 0
                ? Data(SeededGenerator.bytes(round % 300, seed: UInt64(round)))
                : log.entries.randomElement(using: &generator) ?? Data()
            for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
                bytes[bytes.indices.randomElement(using: &generator) ?? 0] ^= UInt8.random(
                    in: 1...255, using: &generator)
            }
            #expect(refuses(bytes, log) || log.entries.contains(bytes), "round \(round)")
        }
    }

    @Test("entries that wait are bounded, and an entry that is too large is refused")
    func bounds() throws {
        let crypto = try GroupProvider.sodium.crypto()
        let device = try TestDevice(creating: "a", crypto)
        #expect(refuses(Data(count: PublishedEntry.largest + 1), device.log))
        var log = device.log
        var parent = Data(count: 32)
        for number in 0...GroupLog.mostWaiting {
            withUnsafeBytes(of: number) { parent.replaceSubrange(0..<8, with: $0) }
            let signed = try GroupEntry.signed(
                .forget(device.id), of: log.group, by: device.device, at: 1, after: [try #require(EntryID(parent))],
                crypto)
            let entry = try PublishedEntry.sealing(signed, with: device.keys.logKey, crypto)
            if number < GroupLog.mostWaiting {
                log.add(contentsOf: [entry])
            } else {
                #expect(throws: StorageError.valueTooLarge) { try log.add(entry) }
            }
        }
        #expect(log.waitingCount == GroupLog.mostWaiting && log.state == device.state)
    }

    @Test("published data reveals no name and no key of a device")
    func nothingReadable() throws {
        var devices = try makeGroup(of: ["Wintermute", "Neuromancer", "Straylight"], try GroupProvider.sodium.crypto())
        _ = try devices[0].invite()
        try devices[0].remove(devices[2].id)
        let published = devices[0].log.entries
        let secrets =
            ["Wintermute", "Neuromancer", "Straylight"].map { Data($0.utf8) }
            + devices.flatMap {
                [$0.device.signingPublicKey, $0.device.agreementPublicKey, Data($0.id.bytes), Data($0.id.text.utf8)]
            } + [devices[0].log.group.bytes]
        for entry in published {
            for secret in secrets { #expect(entry.firstRange(of: secret) == nil) }
        }
        // Shows that the search would find them: the plain entry has them.
        let entry = try #require(devices[0].log.graph.entries.first)
        #expect(entry.authorKey.firstRange(of: devices[0].device.signingPublicKey) != nil)
    }
}
