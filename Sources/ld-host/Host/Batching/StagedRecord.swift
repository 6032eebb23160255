internal import FoundationEssentials
internal import LocalDataAPI

/// A change that is kept beside the value it is for until it is put in place. It lies in the same store, and is no less
/// protected than the value itself: the bytes in it are what the store is to keep.
///
/// A byte for the form (1), one for what is to be done, one for whether there was a value, eight for the hash of that
/// value, little-endian, and the new value's bytes.
struct StagedRecord: Equatable {
    private static let form: UInt8 = 1
    private static let headerSize = 11

    /// The bytes to be stored, or `nil` to remove what is there.
    let value: Data?
    /// What was there when the batch was decided.
    let replaced: UInt64?

    init(value: Data?, replaces current: Data?) {
        self.value = value
        replaced = current.map { StableHash.of($0) }
    }

    /// - Throws: `corrupt` if these bytes are no record.
    init(_ bytes: Data, at address: StorageAddress) throws(StorageError) {
        let header = Array(bytes.prefix(Self.headerSize))
        guard header.count == Self.headerSize, header[0] == Self.form, header[1] <= 1, header[2] <= 1 else {
            throw StorageError(
                .corrupt, "what a batch has put at '\(address)' is damaged, or of a later version",
                hint: "remove it, if what the batch was to change is as it should be")
        }
        value = header[1] == 1 ? Data(bytes.dropFirst(Self.headerSize)) : nil
        let hash = header[3...].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        replaced = header[2] == 1 ? hash : nil
    }

    var encoded: Data {
        var bytes = Data([Self.form, value == nil ? 0 : 1, replaced == nil ? 0 : 1])
        withUnsafeBytes(of: (replaced ?? 0).littleEndian) { bytes.append(contentsOf: $0) }
        if let value { bytes.append(value) }
        return bytes
    }

    /// Whether what is stored now is what the change was made for. Who changed it since comes after the batch.
    func stillReplaces(_ current: Data?) -> Bool { current.map { StableHash.of($0) } == replaced }
}
