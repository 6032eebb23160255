internal import ByteCoding
internal import FoundationEssentials
internal import LocalDataAPI

/// Takes an entry's bytes apart. Nothing in them is trusted.
struct GroupEntryReader {
    private var reader: ByteReader

    init(_ bytes: Data) { reader = ByteReader(.bigEndian, bytes) }

    mutating func number(_ type: UInt8.Type) throws(StorageError) -> UInt8 { try Self.there(reader.number(type)) }

    mutating func number(_ type: UInt16.Type) throws(StorageError) -> UInt16 { try Self.there(reader.number(type)) }

    mutating func number(_ type: UInt64.Type) throws(StorageError) -> UInt64 { try Self.there(reader.number(type)) }

    private static func there<Number>(_ number: Number?) throws(StorageError) -> Number {
        guard let number else { throw GroupEntry.fault("is too short") }
        return number
    }

    mutating func data(_ count: Int) throws(StorageError) -> Data {
        guard let bytes = reader.bytes(count) else { throw GroupEntry.fault("is too short") }
        return Data(bytes)
    }

    mutating func signature() throws(StorageError) -> Data { try data(GroupCrypto.signatureSize) }

    mutating func entryID() throws(StorageError) -> EntryID {
        guard let id = EntryID(try data(EntryID.size)) else { throw GroupEntry.fault("is too short") }
        return id
    }

    mutating func identifier<ID: SyncIdentifier>(_ type: ID.Type) throws(StorageError) -> ID {
        guard let id = ID(bytes: try data(ID.size)) else { throw GroupEntry.fault("is too short") }
        return id
    }

    func end() throws(StorageError) {
        guard reader.isAtEnd else { throw GroupEntry.fault("is longer than its form") }
    }

    /// Elements in strictly ascending order, so that one list has one form.
    mutating func ascending<Element: Comparable>(
        _ count: some FixedWidthInteger, atMost limit: Int,
        _ next: (inout GroupEntryReader) throws(StorageError) -> Element
    ) throws(StorageError) -> [Element] {
        guard count <= limit else { throw GroupEntry.fault("has a list of \(count); expected at most \(limit)") }
        var elements: [Element] = []
        for _ in 0..<Int(count) {
            let element = try next(&self)
            if let last = elements.last, last >= element { throw GroupEntry.fault("has a list that is not sorted") }
            elements.append(element)
        }
        return elements
    }

    mutating func body(_ kind: GroupEntry.Kind) throws(StorageError) -> GroupEntry.Body {
        switch kind {
        case .genesis: .genesis(try profile(), recoveryKey: try data(GroupCrypto.size))
        case .invite: .invite(try invite())
        case .join: .join(invite: try entryID(), try profile())
        case .remove, .removeWithCode:
            .remove(try identifier(DeviceID.self), try epochKeys(), withCode: kind == .removeWithCode)
        case .rekey: try rekey()
        case .forget: .forget(try identifier(DeviceID.self))
        case .acknowledge: .acknowledge
        }
    }

    private mutating func profile() throws(StorageError) -> GroupEntry.DeviceProfile {
        let agreementKey = try data(GroupCrypto.size)
        let number = try number(UInt8.self)
        guard let role = DeviceRole(number: number) else { throw GroupEntry.fault("has the unknown role \(number)") }
        let bytes = try data(Int(try self.number(UInt8.self)))
        guard let name = String(validating: bytes, as: UTF8.self), GroupEntry.isName(name) else {
            throw GroupEntry.fault("has a device's name that is not allowed")
        }
        return GroupEntry.DeviceProfile(agreementKey: agreementKey, role: role, name: name)
    }

    private mutating func invite() throws(StorageError) -> GroupEntry.Invite {
        GroupEntry.Invite(
            signingKey: try data(GroupCrypto.size), agreementKey: try data(GroupCrypto.size),
            invitation: try identifier(InvitationID.self), expiry: try number(UInt64.self),
            epoch: try identifier(EpochID.self), boxHash: try data(GroupCrypto.size))
    }

    private mutating func rekey() throws(StorageError) -> GroupEntry.Body {
        let flag = try number(UInt8.self)
        guard flag <= 1 else { throw GroupEntry.fault("has the unknown flags \(flag)") }
        let ended = try ascending(try number(UInt16.self), atMost: GroupEntry.Renewal.mostEnded) {
            (reader) throws(StorageError) in try reader.entryID()
        }
        return .rekey(
            try epochKeys(withInvitations: true), GroupEntry.Renewal(continues: flag == 1, ended: ended))
    }

    private mutating func epochKeys(withInvitations: Bool = false) throws(StorageError) -> GroupEntry.EpochKeys {
        GroupEntry.EpochKeys(
            ephemeralKey: try data(GroupCrypto.size), boxes: try boxes(),
            invitationBoxes: withInvitations ? try boxes() : [:])
    }

    private mutating func boxes<ID: SyncIdentifier>() throws(StorageError) -> [ID: Data] {
        var boxes: [ID: Data] = [:]
        let count = try number(UInt16.self)
        _ = try ascending(count, atMost: GroupEntry.mostDevices) { (reader) throws(StorageError) in
            let id = try reader.identifier(ID.self)
            boxes[id] = try reader.data(GroupEntry.EpochKeys.boxSize)
            return id
        }
        return boxes
    }
}
