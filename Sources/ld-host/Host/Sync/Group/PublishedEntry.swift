internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import LocalDataAPI

/// An entry as it leaves the device.
///
///     version 1, 1 byte
///     1 byte: 1 if an invitation's box follows, otherwise 0
///     of an invitation: its id, 16 bytes | size of the box, 2 bytes | box
///     box of the signed bytes of the entry, under the log key; it authenticates all bytes before it
///
/// The log key is derived from the group's secret, so only those who were members once can read an entry, and only
/// they can make one. The invitation's box is for the device that joins, which has no other key yet: it holds
/// ``GroupKeys``, is sealed under the invitation's box key, and authenticates the invitation's id. The signed entry
/// has the hash of that box, so nobody can replace it. The same signed bytes may be published in two forms; they are
/// the same entry.
struct PublishedEntry {
    static let version: UInt8 = 1
    /// The most bytes of a published entry.
    static let largest = 64 << 10

    /// The part that an invitation's secret opens.
    struct InvitationBox {
        let id: InvitationID
        let box: Data
    }

    let invitation: InvitationBox?
    /// The bytes before the sealed entry.
    private let head: Data
    private let sealed: Data

    /// Takes a published entry apart, without opening it.
    ///
    /// - Throws: `corrupt` if it has another form.
    init(_ bytes: Data) throws(StorageError) {
        guard bytes.count <= Self.largest else {
            throw GroupEntry.fault("has \(bytes.count) bytes; expected at most \(Self.largest)")
        }
        var reader = ByteReader(.bigEndian, bytes)
        guard reader.number(UInt8.self) == Self.version, let mark = reader.number(UInt8.self), mark <= 1 else {
            throw GroupEntry.fault("is of a later version, or no entry")
        }
        if mark == 1 {
            guard let id = reader.bytes(InvitationID.size).flatMap({ InvitationID(bytes: $0) }),
                let count = reader.number(UInt16.self), let box = reader.bytes(Int(count))
            else { throw GroupEntry.fault("is too short") }
            invitation = InvitationBox(id: id, box: Data(box))
        } else {
            invitation = nil
        }
        let headSize = 2 + (invitation.map { InvitationID.size + 2 + $0.box.count } ?? 0)
        head = Data(bytes.prefix(headSize))
        sealed = Data(bytes.dropFirst(headSize))
    }

    /// Opens the entry and checks everything that can be checked without other entries.
    ///
    /// - Throws: `cannotOpen` if the group's secret did not seal it, or its author did not sign it; `corrupt` if it has
    ///   another form.
    func opened(with logKey: SecretBytes, of group: EntryID, _ crypto: GroupCrypto) throws(StorageError) -> GroupEntry {
        let signed = try crypto.open(sealed, .logBox, with: logKey, authenticating: head)
        let entry = try GroupEntry(decoding: signed, of: group, crypto)
        guard case .invite(let invite) = entry.body else {
            guard invitation == nil else { throw GroupEntry.fault("has an invitation's box, but is none") }
            return entry
        }
        guard let invitation, invitation.id == invite.invitation,
            try crypto.hash(invitation.box, .invitationBoxHash) == invite.boxHash
        else { throw GroupEntry.fault("lacks the invitation box that its author signed") }
        return entry
    }

    /// Seals signed bytes for publication.
    static func sealing(
        _ signed: Data, with logKey: SecretBytes, invitation: InvitationBox? = nil, _ crypto: GroupCrypto
    ) throws(StorageError) -> Data {
        var writer = ByteWriter(.bigEndian, [version, invitation == nil ? 0 : 1])
        if let invitation {
            writer.add(invitation.id.bytes)
            writer.add(UInt16(invitation.box.count))
            writer.add(invitation.box)
        }
        let head = Data(writer.bytes)
        return try signed.withBuffer { (signed) throws(StorageError) in
            head + (try crypto.seal(signed, .logBox, with: logKey, authenticating: head))
        }
    }
}
