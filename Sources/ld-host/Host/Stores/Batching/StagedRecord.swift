internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import LocalDataAPI

/// A change that is staged beside its value until it is put in place. It is in the same store and has the same
/// protection as the value: it contains the bytes that the store will keep.
///
/// One byte for the format (1), one for the kind of change (0 removes the value, 1 stores the bytes that follow, 2
/// stores bytes that are staged on their own), one for whether there was a value, eight for that value's hash,
/// little-endian, then the value's address: domain, scope, folder and name, each after its size of four bytes. The new
/// value's bytes are the rest.
struct StagedRecord: Equatable {
    private static let form: UInt8 = 1
    private static let headerSize = 11
    /// The most bytes of an address with its sizes; the path of a folder is the longest part.
    private static let largestAddress = 16 << 10

    /// The bytes to store, or `nil` to remove the value or if they are staged on their own.
    let value: Data?
    /// Whether the bytes to store are staged on their own, since they are too many for memory.
    let isBeside: Bool
    /// The hash of the value when the batch was decided; `nil` if there was none.
    let replaced: UInt64?
    /// Where the value belongs.
    let address: StorageAddress

    init(value: Data?, isBeside: Bool = false, replaced: UInt64?, address: StorageAddress) {
        self.value = value
        self.isBeside = isBeside
        self.replaced = replaced
        self.address = address
    }

    /// - Throws: `corrupt` if the bytes are not a record.
    init(_ bytes: Data, at address: StorageAddress) throws(StorageError) {
        var header = ByteReader(.littleEndian, bytes.prefix(Self.headerSize + Self.largestAddress))
        guard header.number(UInt8.self) == Self.form,
            let kind = header.number(UInt8.self), kind <= 2, let hadValue = header.number(UInt8.self), hadValue <= 1,
            let hash = header.number(UInt64.self), let belongs = Self.address(&header)
        else {
            throw StorageError(
                .corrupt, "the staged value of a batch at '\(address)' is damaged, or of a later version",
                hint: "remove it if the value that the batch was to change is right")
        }
        value = kind == 1 ? Data(bytes.dropFirst(Self.headerSize + belongs.size)) : nil
        isBeside = kind == 2
        replaced = hadValue == 1 ? hash : nil
        self.address = belongs.address
    }

    /// The address of a record with its size; `nil` if it is damaged.
    private static func address(_ header: inout ByteReader) -> (address: StorageAddress, size: Int)? {
        var (texts, size): ([String], Int) = ([], 0)
        for _ in 0..<4 {
            guard let count = header.number(UInt32.self), let bytes = header.bytes(Int(count)),
                let text = String(validating: bytes, as: UTF8.self)
            else { return nil }
            texts.append(text)
            size += 4 + Int(count)
        }
        let place = StorageNamespace(
            domain: texts[0], scope: texts[1], directory: texts[2].isEmpty ? nil : texts[2])
        return (StorageAddress(place, name: texts[3]), size)
    }

    var encoded: Data {
        let kind: UInt8 = isBeside ? 2 : value == nil ? 0 : 1
        var header = ByteWriter(.littleEndian, [Self.form, kind, replaced == nil ? 0 : 1])
        header.add(replaced ?? 0)
        for text in [address.place.domain, address.place.scope, address.place.directory ?? "", address.name] {
            header.add(UInt32(text.utf8.count))
            header.add(text.utf8)
        }
        return Data(header.bytes) + (value ?? Data())
    }

    /// The hash of what is stored. A value that the store finds corrupt has one too, since a batch may replace it.
    static func hash(_ read: () throws(StorageError) -> UInt64?) throws(StorageError) -> UInt64? {
        do throws(StorageError) { return try read() } catch {
            guard error.code == .corrupt else { throw error }
            return corrupt
        }
    }

    /// The hash of a value that the store finds corrupt.
    private static let corrupt = UInt64.max

    /// Whether the value was corrupt when the batch was decided.
    var replacesCorrupt: Bool { replaced == Self.corrupt }

    /// Whether the stored value, with this hash, is still the one that the change was made for. A later change by
    /// others comes after the batch.
    func stillReplaces(_ hash: UInt64?) -> Bool { hash == replaced }
}
