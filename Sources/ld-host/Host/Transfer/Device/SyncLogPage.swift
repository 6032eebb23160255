internal import ByteCoding
internal import FoundationEssentials
internal import HostGround
internal import HostSync
internal import LocalDataAPI

/// The log of a group as a device keeps it.
///
/// Version 1 (1 byte), number of entries (4), each after its size (4), number of published records (4), each name after
/// its size (1), the same for the records that others publish, and the hash of all that; numbers are big-endian.
struct SyncLogPage {
    private static let version: UInt8 = 1

    /// In their published form.
    let entries: [Data]
    /// The names of the records that this device has published.
    let published: Set<String>
    /// The names of those that it need not publish, since others do.
    let carried: Set<String>

    init(entries: [Data] = [], published: Set<String> = [], carried: Set<String> = []) {
        (self.entries, self.published, self.carried) = (entries, published, carried)
    }

    func encoded() -> Data {
        var writer = ByteWriter(.bigEndian, [Self.version])
        writer.add(UInt32(entries.count))
        for entry in entries {
            writer.add(UInt32(entry.count))
            writer.add(entry)
        }
        for names in [published, carried] {
            writer.add(UInt32(names.count))
            for name in names.sorted() {
                writer.add(UInt8(name.utf8.count))
                writer.add(name.utf8)
            }
        }
        writer.addHash()
        return Data(writer.bytes)
    }

    /// - Throws: `corrupt` if it is damaged, or of a later version.
    init(_ data: Data) throws(StorageError) {
        var entries: [Data] = []
        guard var reader = ByteReader(hashed: .bigEndian, data), reader.number(UInt8.self) == Self.version,
            let count = reader.number(UInt32.self)
        else { throw Self.error(decoding: data) }
        for _ in 0..<count {
            guard let size = reader.number(UInt32.self), let bytes = reader.bytes(Int(size)) else {
                throw Self.error(decoding: data)
            }
            entries.append(Data(bytes))
        }
        func names() throws(StorageError) -> Set<String> {
            var names: Set<String> = []
            // Earlier pages end before the second list.
            for _ in 0..<(reader.number(UInt32.self) ?? 0) {
                guard let size = reader.number(UInt8.self), let bytes = reader.bytes(Int(size)),
                    let name = String(validating: bytes, as: UTF8.self)
                else { throw Self.error(decoding: data) }
                names.insert(name)
            }
            return names
        }
        let published = try names()
        self.init(entries: entries, published: published, carried: try names())
    }

    private static func error(decoding data: Data) -> StorageError {
        SyncForm.error(
            decoding: data, known: version,
            "the log of the sync group's members, '\(HostSettings.syncNamespace)/log',",
            ifDamaged: "restore the store of the domain 'userDefaults' from a backup, or join again as a new device")
    }
}
