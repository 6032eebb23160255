internal import ByteCoding
package import FoundationEssentials
package import LocalDataAPI

/// Whether this device leads its sync group, and so migrates the values that all of its devices have. Sync keeps it
/// where it can be read without the group's keys.
///
/// Encoded: version 1 (1 byte), the kind (1), the name of the device that leads (after its size, 2), and the hash of
/// all that; numbers are big-endian.
package enum SyncStanding: Equatable, Sendable {
    case leads
    /// It will lead, and still takes over what the group has.
    case joins
    /// The device of this name leads.
    case follows(String)
    /// All devices are watches, which never lead.
    case nobodyLeads

    private static let version: UInt8 = 1

    /// Why this device leaves it to another one to migrate a value that takes part in sync; `nil` if it does it itself.
    package var reasonToWait: String? {
        switch self {
        case .leads: nil
        case .joins:
            "its value takes part in sync, and this device, which leads the sync group, is still adopting the "
                + "group's values; see: ld-host sync status"
        case .follows(let name):
            "its value takes part in sync, so it waits for the device '\(name)', which leads the sync group: update the "
                + "app there; what that one migrates comes by sync"
        case .nobodyLeads:
            "its value takes part in sync, and no device of the sync group leads, since all have the role 'watch'; see "
                + "device.role in the configuration"
        }
    }

    package func encoded() -> Data {
        var writer = ByteWriter(.bigEndian, [Self.version])
        switch self {
        case .leads: writer.add(UInt8(1))
        case .joins: writer.add(UInt8(2))
        case .follows: writer.add(UInt8(3))
        case .nobodyLeads: writer.add(UInt8(4))
        }
        if case .follows(let name) = self { writer.add(name) } else { writer.add(nil as String?) }
        writer.addHash()
        return Data(writer.bytes)
    }

    /// - Throws: `corrupt` if it is damaged; `unsupported` if a later program wrote it.
    package init(_ data: Data) throws(StorageError) {
        guard let standing = Self.decoded(data) else {
            throw SyncForm.error(
                decoding: data, known: Self.version, "sync's record of the group's leader",
                ifDamaged: "recreate it: ld-host sync pull")
        }
        self = standing
    }

    private static func decoded(_ data: Data) -> SyncStanding? {
        guard var reader = ByteReader(hashed: .bigEndian, data), reader.number(UInt8.self) == version,
            let kind = reader.number(UInt8.self), let name = reader.optionalText(), reader.isAtEnd
        else { return nil }
        switch (kind, name) {
        case (1, nil): return .leads
        case (2, nil): return .joins
        case (3, let name?): return .follows(name)
        case (4, nil): return .nobodyLeads
        default: return nil
        }
    }
}
