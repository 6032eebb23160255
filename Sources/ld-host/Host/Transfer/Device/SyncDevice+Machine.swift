internal import ByteCoding
internal import FoundationEssentials
internal import Glibc
internal import HostGround
internal import HostSync
internal import LocalDataAPI

/// A device's folders, copied to another machine, would publish as the same device from there, and either would undo
/// what the other one publishes. So sync keeps which machine the device is, as a keyed hash that says nothing to
/// others.
extension SyncDevice {
    private static let machineVersion: UInt8 = 1

    /// The id that the system gave this machine; `nil` if it gave none, as in many containers.
    package static var machineID: String? {
        for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
            guard let data = HostFile.contents(of: path, ownedByUser: false, limit: 64) else { continue }
            let id = String(decoding: data, as: UTF8.self).filter { !$0.isWhitespace }
            if id.count == 32, id.allSatisfy(\.isHexDigit) { return id }
        }
        return nil
    }

    /// Whether another machine has entered the group as this device.
    func isOtherMachine(_ group: MemberGroup) throws(StorageError) -> Bool {
        guard let own = try encodedMachine(group), let kept = try SyncPlace.machine(in: home).valueNow() else {
            return false
        }
        guard ByteReader(hashed: .bigEndian, kept) != nil, kept.first == Self.machineVersion else {
            throw SyncForm.error(
                decoding: kept, known: Self.machineVersion, "sync's record of this machine",
                ifDamaged: "join again as a new device: ld-host sync leave")
        }
        return kept != own
    }

    /// Remembers that this device is this machine.
    func keepMachine(_ group: MemberGroup) throws(StorageError) {
        guard let own = try encodedMachine(group) else { return }
        let place = try SyncPlace.machine(in: home)
        if try place.valueNow() != own { try place.setNow(own) }
    }

    private func encodedMachine(_ group: MemberGroup) throws(StorageError) -> Data? {
        guard let id = machine() else { return nil }
        var writer = ByteWriter(.bigEndian, [Self.machineVersion])
        writer.add(try group.hash(Data("machine \(id)".utf8)))
        writer.addHash()
        return Data(writer.bytes)
    }

    /// - Throws: `permissionDenied` on another machine than the one that entered the group as this device.
    func requireSameMachine(_ group: MemberGroup) throws(StorageError) {
        guard try isOtherMachine(group) else { return try keepMachine(group) }
        throw StorageError(
            .permissionDenied,
            "these folders were copied from another machine, which takes part in sync as the device "
                + "'\(group.log.state.member(group.me)?.name ?? group.me.text)'; two machines cannot be one device",
            hint:
                "make this one a device of its own: ld-host sync leave, then join by an invitation; if the other machine "
                + "is gone, remove it from the group afterwards: ld-host sync remove")
    }
}
