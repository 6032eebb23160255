internal import ByteCoding
internal import FoundationEssentials
internal import LocalDataAPI

extension GroupEntry {
    /// Decodes signed bytes and checks the author's signature.
    ///
    /// - Throws: `corrupt` if they have not exactly the form of an entry; `cannotOpen` if the group or the signature
    ///   is wrong.
    init(decoding bytes: Data, of group: EntryID, _ crypto: GroupCrypto) throws(StorageError) {
        var reader = EntryReader(bytes)
        guard try reader.number(UInt8.self) == Self.version else {
            throw Self.fault("is of a later version", hint: "update LocalData on this device")
        }
        let kind = try Kind(reader.number(UInt8.self))
        let found = try reader.data(EntryID.size)
        authorKey = try reader.data(GroupCrypto.size)
        time = try reader.number(UInt64.self)
        parents = try reader.ascending(try reader.number(UInt8.self), atMost: Self.mostParents) {
            (reader) throws(StorageError) in try reader.entryID()
        }
        body = try reader.body(kind)
        countersigned =
            kind.isCountersigned ? (bytes.dropLast(2 * GroupCrypto.signatureSize), try reader.signature()) : nil
        let signature = try reader.signature()
        try reader.end()
        id = try Self.id(of: bytes, crypto)
        if kind == .genesis {
            guard parents.isEmpty, id == group, found == Data(count: EntryID.size) else { throw Self.foreign }
        } else {
            guard !parents.isEmpty, found == group.bytes else { throw Self.foreign }
        }
        author = try DeviceID(ofSigningKey: authorKey, crypto)
        try crypto.verify(
            signature, of: bytes.dropLast(GroupCrypto.signatureSize), .entrySignature, with: authorKey)
    }

    /// The id of an entry with these signed bytes.
    static func id(of bytes: Data, _ crypto: GroupCrypto) throws(StorageError) -> EntryID {
        guard let id = EntryID(try crypto.hash(bytes, .entryID)) else { throw fault("has no id") }
        return id
    }

    /// The number of each kind.
    enum Kind: UInt8 {
        case genesis = 1
        case invite = 2
        case join = 3
        case remove = 4
        case rekey = 5
        case forget = 6
        case acknowledge = 7
        case removeWithCode = 8

        /// Whether another key than the author's signs, too.
        fileprivate var isCountersigned: Bool { self == .join || self == .removeWithCode }

        fileprivate init(_ number: UInt8) throws(StorageError) {
            guard let kind = Self(rawValue: number) else { throw fault("is of the unknown kind \(number)") }
            self = kind
        }
    }

    /// An entry of another group.
    static let foreign = StorageError(.cannotOpen, "an entry of a sync group's log belongs to another group")

    /// An entry that is refused.
    static func fault(_ what: String, hint: String = "") -> StorageError {
        StorageError(.corrupt, "an entry of a sync group's log \(what)", hint: hint)
    }
}

/// Takes an entry's bytes apart. Nothing in them is trusted.
private struct EntryReader {
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
        _ next: (inout EntryReader) throws(StorageError) -> Element
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

extension GroupEntry {
    /// Whether a device may be called so: 1 to 128 bytes of UTF-8 without control characters.
    static func isName(_ name: String) -> Bool {
        let isControl = { (scalar: Unicode.Scalar) in scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value) }
        return (1...longestName).contains(name.utf8.count) && !name.unicodeScalars.contains(where: isControl)
    }
}

extension DeviceRole {
    private static let numbered: [DeviceRole] = [.all, .phone, .watch]

    /// The role with this number in a profile.
    init?(number: UInt8) {
        guard Self.numbered.indices.contains(Int(number)) else { return nil }
        self = Self.numbered[Int(number)]
    }

    /// The number in a profile.
    var number: UInt8 { UInt8(Self.numbered.firstIndex(of: self) ?? 0) }
}
