internal import ByteCoding
internal import FoundationEssentials
internal import LocalDataAPI

/// A change that is staged beside its value until it is put in place. It is in the same store and has the same
/// protection as the value: it contains the bytes that the store will keep.
///
/// One byte for the format (1), one for the kind of change, one for whether there was a value, eight for that value's
/// hash, little-endian, then the new value's bytes.
struct StagedRecord: Equatable {
    private static let form: UInt8 = 1
    private static let headerSize = 11

    /// The bytes to store, or `nil` to remove the value.
    let value: Data?
    /// The hash of the value when the batch was decided; `nil` if there was none.
    let replaced: UInt64?

    init(value: Data?, replaces current: Data?) {
        self.value = value
        replaced = current.map { StableHash.of($0) }
    }

    /// - Throws: `corrupt` if the bytes are not a record.
    init(_ bytes: Data, at address: StorageAddress) throws(StorageError) {
        var header = ByteReader(.littleEndian, bytes.prefix(Self.headerSize))
        guard header.number(UInt8.self) == Self.form, let kind = header.number(UInt8.self), kind <= 1,
            let hadValue = header.number(UInt8.self), hadValue <= 1, let hash = header.number(UInt64.self)
        else {
            throw StorageError(
                .corrupt, "the staged value of a batch at '\(address)' is damaged, or of a later version",
                hint: "remove it if the value that the batch was to change is right")
        }
        value = kind == 1 ? Data(bytes.dropFirst(Self.headerSize)) : nil
        replaced = hadValue == 1 ? hash : nil
    }

    var encoded: Data {
        var header = ByteWriter(.littleEndian, [Self.form, value == nil ? 0 : 1, replaced == nil ? 0 : 1])
        header.add(replaced ?? 0)
        return Data(header.bytes) + (value ?? Data())
    }

    /// Whether the stored value is still the one that the change was made for. A later change by others comes after the
    /// batch.
    func stillReplaces(_ current: Data?) -> Bool { current.map { StableHash.of($0) } == replaced }
}
