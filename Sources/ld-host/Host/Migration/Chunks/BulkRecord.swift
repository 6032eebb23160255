internal import ByteCoding
internal import FoundationEssentials
internal import LocalDataAPI

/// What one chunk of a bulk migration has moved: what it takes to remove the sources if the chunk was interrupted, and
/// to put them back. It says no value; as its hashes are of opened bytes, it is sealed as the values are.
///
/// A byte for the form (2, or 3 if a source was dropped); then, little-endian, four bytes with the size of a JSON list
/// of attributes and the list; then for each value two bytes with the size of its name and the name behind the prefix,
/// a byte of flags, two with the number of its attributes, and twice eight with the hashes of the source as it was
/// stored and of the destination's opened bytes. In form 4, a value with the flag 32 has eight more with the hash of
/// the opened bytes that the destination had before. The last eight are the hash of all that. Form 1 has no such hash.
struct BulkRecord {
    struct Item: Equatable {
        /// The rest of the name after the prefix.
        let suffix: String
        var flags: Flags
        /// The source's attributes: their number in the record's list.
        let attributes: Int
        /// The hash of the source as it was stored.
        let source: UInt64
        /// The hash of the destination's value.
        var destination: UInt64
        /// The hash of the value that the destination had before; `nil` if it had none, or the record is of an earlier
        /// version.
        var replaced: UInt64?
    }

    struct Flags: OptionSet {
        let rawValue: UInt8
        /// The destination has other bytes than the source had, which has an image.
        static let isChanged = Flags(rawValue: 1)
        /// The destination had a value, which has an image.
        static let isReplaced = Flags(rawValue: 2)
        /// The source was changed, and is still there.
        static let isLeft = Flags(rawValue: 4)
        /// The value is large: it was copied after this was written, and its hash is not known.
        static let isLarge = Flags(rawValue: 8)
        /// The destination's value stays, and the source, which has an image, is removed.
        static let isDropped = Flags(rawValue: 16)
        /// The hash of what was replaced follows. Only in the encoding.
        fileprivate static let hasReplaced = Flags(rawValue: 32)
    }

    private static let form: UInt8 = 2
    private static let formWithDropped: UInt8 = 3
    private static let formWithReplaced: UInt8 = 4
    private static let formWithoutHash: UInt8 = 1

    private(set) var attributes: [ValueAttributes?] = []
    var items: [Item] = []
    private var indices: [ValueAttributes?: Int] = [:]

    init() {}

    /// Whether it is of one large value.
    var isLarge: Bool { items.first?.flags.contains(.isLarge) == true }

    /// The number of attributes, which are added if they are new. Size and time are the store's, and not kept.
    mutating func number(of attributes: ValueAttributes?) -> Int {
        let kept = attributes?.kept
        if let known = indices[kept] { return known }
        indices[kept] = self.attributes.count
        self.attributes.append(kept)
        return self.attributes.count - 1
    }

    func encoded() throws(StorageError) -> Data {
        let hasReplaced = items.contains { $0.replaced != nil }
        let isPlain = !items.contains { $0.flags.contains(.isDropped) }
        var writer = try Writer(
            attributes, capacity: items.count * 64,
            form: hasReplaced ? Self.formWithReplaced : isPlain ? Self.form : Self.formWithDropped)
        for item in items {
            var suffix = item.suffix
            suffix.withUTF8 {
                writer.add(
                    UnsafeRawBufferPointer($0), item.flags, attributes: item.attributes, source: item.source,
                    destination: item.destination, replaced: item.replaced)
            }
        }
        return writer.encoded
    }

    /// Writes a record whose values are not in memory as items.
    struct Writer {
        private var writer: ByteWriter

        /// The record, with its hash.
        var encoded: Data {
            var whole = writer
            whole.addHash()
            return Data(whole.bytes)
        }

        init(
            _ attributes: [ValueAttributes?], capacity: Int, form: UInt8 = BulkRecord.form
        ) throws(StorageError) {
            let list = try Serializer<[KeptAttributes]>.json.encode(attributes.map { KeptAttributes($0) })
            writer = ByteWriter(.littleEndian, [form], capacity: list.count + 5 + capacity)
            writer.add(UInt32(list.count))
            writer.add(list)
        }

        /// Adds a value; the arguments are as ``Item`` has them.
        mutating func add(
            _ suffix: UnsafeRawBufferPointer, _ flags: Flags, attributes: Int, source: UInt64, destination: UInt64,
            replaced: UInt64? = nil
        ) {
            writer.add(UInt16(suffix.count))
            writer.add(suffix)
            writer.add(flags.union(replaced == nil ? [] : .hasReplaced).rawValue)
            writer.add(UInt16(attributes))
            writer.add(source)
            writer.add(destination)
            if let replaced { writer.add(replaced) }
        }
    }

    /// - Throws: `corrupt` if these bytes are no record.
    init(_ bytes: Data, of id: String) throws(StorageError) {
        let isPlain = bytes.first == Self.formWithoutHash
        let isKnown = [Self.form, Self.formWithDropped, Self.formWithReplaced].contains(bytes.first)
        guard isPlain || isKnown,
            var reader = isPlain ? ByteReader(.littleEndian, bytes) : ByteReader(hashed: .littleEndian, bytes),
            reader.number(UInt8.self) != nil, let size = reader.number(UInt32.self), let list = reader.bytes(Int(size)),
            let kept = try? Serializer<[KeptAttributes]>.json.decode(Data(list))
        else { throw Self.damaged(id) }
        attributes = kept.map(\.attributes)
        while !reader.isAtEnd {
            guard let count = reader.number(UInt16.self), let name = reader.bytes(Int(count)),
                let suffix = String(validating: name, as: UTF8.self), let flags = reader.number(UInt8.self),
                let number = reader.number(UInt16.self), Int(number) < attributes.count,
                let source = reader.number(UInt64.self), let destination = reader.number(UInt64.self)
            else { throw Self.damaged(id) }
            var item = Item(
                suffix: suffix, flags: Flags(rawValue: flags), attributes: Int(number), source: source,
                destination: destination)
            if item.flags.remove(.hasReplaced) != nil {
                guard let replaced = reader.number(UInt64.self) else { throw Self.damaged(id) }
                item.replaced = replaced
            }
            items.append(item)
        }
    }

    private static func damaged(_ id: String) -> StorageError {
        StorageError(
            .corrupt, "the ledger's record of a part of the migration '\(id)' is damaged",
            hint: "restore it from a backup, or see: ld-host migrate ledger repair")
    }
}
