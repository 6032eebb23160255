internal import FoundationEssentials
internal import LocalDataAPI

/// What one chunk of a bulk migration has moved: what it takes to remove the sources if the chunk was interrupted, and
/// to put them back. It says no value; as its hashes are of opened bytes, it is sealed as the values are.
///
/// A byte for the form (2, or 3 if a source was dropped); then, little-endian, four bytes with the size of a JSON list
/// of attributes and the list; then for each value two bytes with the size of its name and the name behind the prefix,
/// a byte of flags, two with the number of its attributes, and twice eight with the hashes of the source as it was
/// stored and of the destination's opened bytes. The last eight are the hash of all that. Form 1 has no such hash.
struct BulkRecord {
    struct Item: Equatable {
        /// What follows the prefix.
        let suffix: String
        var flags: Flags
        /// What the source's attributes were: their number in the record's list.
        let attributes: Int
        /// The hash of the source as it was stored.
        let source: UInt64
        /// The hash of the destination's value.
        let destination: UInt64
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
    }

    private static let form: UInt8 = 2
    private static let formWithDropped: UInt8 = 3
    private static let formWithoutHash: UInt8 = 1

    private(set) var attributes: [ValueAttributes?] = []
    var items: [Item] = []
    private var indices: [ValueAttributes?: Int] = [:]

    init() {}

    /// Whether it is of one large value.
    var isLarge: Bool { items.first?.flags.contains(.isLarge) == true }

    /// The number of attributes, which are added if they are new. Size and time are the store's, and not kept.
    mutating func number(of attributes: ValueAttributes?) -> Int {
        var kept = attributes
        kept?.size = nil
        kept?.modified = nil
        if let known = indices[kept] { return known }
        indices[kept] = self.attributes.count
        self.attributes.append(kept)
        return self.attributes.count - 1
    }

    func encoded() throws(StorageError) -> Data {
        let isPlain = !items.contains { $0.flags.contains(.isDropped) }
        var writer = try Writer(
            attributes, capacity: items.count * 64, form: isPlain ? Self.form : Self.formWithDropped)
        for item in items {
            var suffix = item.suffix
            suffix.withUTF8 {
                writer.add(
                    UnsafeRawBufferPointer($0), item.flags, attributes: item.attributes, source: item.source,
                    destination: item.destination)
            }
        }
        return writer.data
    }

    /// Writes a record whose values are not in memory as items.
    struct Writer {
        private var bytes: [UInt8] = []

        var data: Data {
            var data = Data(bytes)
            withUnsafeBytes(of: StableHash.of(data).littleEndian) { data.append(contentsOf: $0) }
            return data
        }

        init(
            _ attributes: [ValueAttributes?], capacity: Int, form: UInt8 = BulkRecord.form
        ) throws(StorageError) {
            let list = try Serializer<[KeptAttributes]>.json.encode(attributes.map { KeptAttributes($0) })
            bytes.reserveCapacity(list.count + 5 + capacity)
            bytes.append(form)
            add(UInt32(list.count))
            bytes.append(contentsOf: list)
        }

        /// Adds a value; the arguments are as ``Item`` has them.
        mutating func add(
            _ suffix: UnsafeRawBufferPointer, _ flags: Flags, attributes: Int, source: UInt64, destination: UInt64
        ) {
            add(UInt16(suffix.count))
            bytes.append(contentsOf: suffix)
            bytes.append(flags.rawValue)
            add(UInt16(attributes))
            add(source)
            add(destination)
        }

        private mutating func add(_ number: some FixedWidthInteger) {
            withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        }
    }

    /// - Throws: `corrupt` if these bytes are no record.
    init(_ bytes: Data, of id: String) throws(StorageError) {
        var bytes = bytes
        if bytes.first != Self.formWithoutHash {
            var hash = BulkRecordReader(Data(bytes.suffix(8)))
            bytes = Data(bytes.dropLast(8))
            guard bytes.first == Self.form || bytes.first == Self.formWithDropped,
                hash.number(UInt64.self) == StableHash.of(bytes)
            else {
                throw Self.damaged(id)
            }
        }
        var reader = BulkRecordReader(bytes)
        guard reader.number(UInt8.self) != nil, let size = reader.number(UInt32.self),
            let list = reader.bytes(Int(size)),
            let kept = try? Serializer<[KeptAttributes]>.json.decode(list)
        else { throw Self.damaged(id) }
        attributes = kept.map(\.attributes)
        while !reader.isAtEnd {
            guard let count = reader.number(UInt16.self), let name = reader.bytes(Int(count)),
                let suffix = String(validating: name, as: UTF8.self), let flags = reader.number(UInt8.self),
                let number = reader.number(UInt16.self), Int(number) < attributes.count,
                let source = reader.number(UInt64.self), let destination = reader.number(UInt64.self)
            else { throw Self.damaged(id) }
            items.append(
                Item(
                    suffix: suffix, flags: Flags(rawValue: flags), attributes: Int(number), source: source,
                    destination: destination))
        }
    }

    private static func damaged(_ id: String) -> StorageError {
        StorageError(
            .corrupt, "the ledger's record of a part of the migration '\(id)' is damaged",
            hint: "restore it from a backup, or see: ld-host migrate ledger repair")
    }
}

/// Attributes as the record keeps them.
private struct KeptAttributes: Codable {
    let isThere: Bool
    let contentType: String?
    let serializer: String?
    let versionTag: String?
    let appVersion: String?
    let owner: String?

    init(_ attributes: ValueAttributes?) {
        isThere = attributes != nil
        contentType = attributes?.contentType
        serializer = attributes?.serializer
        versionTag = attributes?.versionTag
        appVersion = attributes?.appVersion
        owner = attributes?.owner
    }

    var attributes: ValueAttributes? {
        guard isThere else { return nil }
        return ValueAttributes(
            contentType: contentType, serializer: serializer, versionTag: versionTag, appVersion: appVersion,
            owner: owner)
    }
}

/// Takes bytes apart.
private struct BulkRecordReader {
    private var rest: Data

    init(_ bytes: Data) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func bytes(_ count: Int) -> Data? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Data(rest.prefix(count))
    }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        bytes(MemoryLayout<Number>.size)?.reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }
}
