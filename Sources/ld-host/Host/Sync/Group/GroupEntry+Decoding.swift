internal import ByteCoding
internal import FoundationEssentials
internal import LocalDataAPI

extension GroupEntry {
    /// Decodes signed bytes and checks the author's signature.
    ///
    /// - Throws: `corrupt` if they have not exactly the form of an entry; `cannotOpen` if the group or the signature
    ///   is wrong.
    init(decoding bytes: Data, of group: EntryID, _ crypto: GroupCrypto) throws(StorageError) {
        var reader = GroupEntryReader(bytes)
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
