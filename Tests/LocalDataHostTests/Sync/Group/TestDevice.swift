import FoundationEssentials
import LocalDataAPI
import TestSupport
@testable import HostSync
@testable import LocalDataHost

/// A device with its copy of a group's log.
struct TestDevice {
    let device: DeviceKeys
    let crypto: GroupCrypto
    var log: GroupLog
    var keys: GroupKeys
    /// The group's recovery code, if this device has made the group.
    var code: RecoveryCode?

    var id: DeviceID { device.id }
    var state: GroupState { log.state }

    /// The first member of a new group.
    init(creating name: String, at time: UInt64 = 1000, _ crypto: GroupCrypto) throws {
        device = try DeviceKeys(creatingWith: crypto)
        self.crypto = crypto
        (log, keys, code) = try GroupLog.creating(by: device, named: name, role: .all, at: time, crypto)
    }

    /// A new device that joins by a code.
    init(
        joining entries: [Data], by code: String, _ name: String, role: DeviceRole = .phone, at time: UInt64 = 2000,
        as device: DeviceKeys? = nil, _ crypto: GroupCrypto
    ) throws {
        self.device = try device ?? DeviceKeys(creatingWith: crypto)
        self.crypto = crypto
        let invitation = try Invitation(code: code, crypto)
        (log, keys, _) = try GroupLog.joining(
            by: invitation, as: self.device, named: name, role: role, at: time, crypto
        ) { take in _ = entries.first { !take($0) } }
    }

    /// Invites and returns the code.
    mutating func invite(until expiry: UInt64 = .max, at time: UInt64 = 1500) throws -> String {
        let (invitation, _) = try log.invite(by: device, with: keys, until: expiry, at: time)
        return invitation.code
    }

    /// Invites a new device, which joins at once; this device does not know of the join yet.
    mutating func admit(_ name: String, at time: UInt64 = 2000, _ crypto: GroupCrypto? = nil) throws -> TestDevice {
        let code = try invite(at: time - 1)
        return try TestDevice(joining: log.entries, by: code, name, at: time, crypto ?? self.crypto)
    }

    mutating func remove(_ other: DeviceID, at time: UInt64 = 3000, with code: RecoveryCode? = nil) throws {
        _ = try log.remove(other, by: device, at: time, with: code)
        try open()
    }

    mutating func rekey(
        at time: UInt64 = 4000, ending isEnded: (GroupState.OpenInvitation) -> Bool = { _ in false }
    ) throws {
        _ = try log.rekey(by: device, at: time, ending: isEnded)
        try open()
    }

    /// Does what a member does when it has taken in something: starts an epoch if one is needed, and acknowledges.
    mutating func answer(at time: UInt64 = 6000) throws {
        guard state.member(id) != nil else { return }
        if try log.renew(by: device, at: time) { try open() }
        if log.owesAcknowledgement(id) { _ = try log.acknowledge(by: device, at: time) }
    }

    mutating func forget(_ other: DeviceID, at time: UInt64 = 3000) throws {
        _ = try log.forget(other, by: device, at: time)
    }

    /// Takes over all entries of another device.
    mutating func receive(_ other: TestDevice) throws {
        log.add(contentsOf: other.log.entries)
        try open()
    }

    /// Takes over entries of another device as a member does, at a time.
    @discardableResult
    mutating func take(_ other: TestDevice, at time: UInt64) throws -> Int {
        try take(other.log.entries, at: time)
    }

    @discardableResult
    mutating func take(_ entries: [Data], at time: UInt64) throws -> Int {
        let added = try log.take(entries, by: device, at: time)
        try open()
        return added
    }

    mutating func open() throws { keys = try keys.opening(log, with: device) }

    /// Whether it can open records that are sealed now.
    var hasCurrentKey: Bool { keys.knownEpochs.contains(state.epoch.id) }

    /// Signs an entry without checking the right to it, and adds it.
    mutating func force(
        _ body: GroupEntry.Body, after parents: [EntryID]? = nil, at time: UInt64 = 5000,
        invitation: Invitation? = nil
    ) throws {
        let signed = try GroupEntry.signed(
            body, of: log.group, by: device, at: time, after: parents ?? log.heads, invitation: invitation,
            crypto)
        _ = try log.publish(signed)
    }

    /// The keys of an epoch for some devices.
    func epochKeys(for ids: [DeviceID]) throws -> GroupEntry.EpochKeys {
        let devices = log.graph.entries.filter { $0.profile != nil && ids.contains($0.author) }
        return try GroupEntry.EpochKeys(
            sealing: crypto.randomKey(),
            for: devices.compactMap { entry in entry.profile.map { (entry.author, $0.agreementKey) } }, by: device,
            of: log.group, crypto)
    }
}
