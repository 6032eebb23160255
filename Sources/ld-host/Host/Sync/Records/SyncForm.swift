internal import ByteCoding
package import FoundationEssentials
package import LocalDataAPI

/// What sync keeps on a device has one form: the first byte is the version, and the last eight are the hash of all
/// others.
package enum SyncForm {
    /// Why bytes cannot be decoded: a later program wrote them, or they are damaged.
    ///
    /// - Parameters:
    ///   - known: The latest version that this program knows.
    ///   - what: What they say, and where they are.
    ///   - hint: What to do if they are damaged.
    package static func error(decoding data: Data, known: UInt8, _ what: String, ifDamaged hint: String) -> StorageError
    {
        if var reader = ByteReader(hashed: .bigEndian, data), let version = reader.number(UInt8.self), version > known {
            return StorageError(
                .unsupported, "\(what) has version \(version); this program knows versions up to \(known)",
                hint: "use the program that wrote it, or a later one; nothing was changed")
        }
        return StorageError(.corrupt, "\(what) is damaged", hint: hint)
    }
}
