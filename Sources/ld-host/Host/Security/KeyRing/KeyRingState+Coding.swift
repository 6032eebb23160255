internal import LocalDataAPI

/// A ring as it is stored, always inside of an envelope or of a store that seals: the mark 89 4C 44 4B, the version 1, a
/// zero, the number of keys; then of each key its id, its use, when it was made, the size of its material, and that.
/// Numbers have the most significant byte first.
extension KeyRingState {
    private static let magic: [UInt8] = [0x89, 0x4C, 0x44, 0x4B]
    private static let version: UInt8 = 1
    private static let entrySize = KeyID.size + 1 + 8 + 2

    /// The stored form.
    func encoded() throws(StorageError) -> SecretBytes {
        let size = 8 + entries.reduce(0) { $0 + Self.entrySize + $1.material.count }
        return try SecretBytes(count: size) { (memory) throws(StorageError) in
            var rest = memory[...]
            func add(_ bytes: some Collection<UInt8>) {
                UnsafeMutableRawBufferPointer(rebasing: rest).copyBytes(from: bytes)
                rest = rest.dropFirst(bytes.count)
            }
            func add(_ number: some FixedWidthInteger) { withUnsafeBytes(of: number.bigEndian) { add($0) } }
            add(Self.magic + [Self.version, 0])
            add(UInt16(entries.count))
            for entry in entries {
                add(entry.id.bytes)
                add([entry.use.rawValue])
                add(entry.created)
                add(UInt16(entry.material.count))
                add(entry.material.bytes)
            }
        }
    }

    /// Reads the stored form.
    ///
    /// - Parameter name: The ring, for errors.
    /// - Throws: `corrupt`; `unsupported` if a later version wrote it.
    init(decoding bytes: UnsafeRawBufferPointer, of name: String) throws(StorageError) {
        let damaged = StorageError(
            .corrupt, "\(name) is damaged; what it seals cannot be opened", hint: "restore the ring from a backup")
        var rest = bytes[...]
        func take(_ count: Int) throws(StorageError) -> UnsafeRawBufferPointer {
            guard rest.count >= count else { throw damaged }
            defer { rest = rest.dropFirst(count) }
            return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
        }
        guard try take(4).elementsEqual(Self.magic) else { throw damaged }
        let version = try take(2)[0]
        guard version == Self.version else {
            throw StorageError(
                .unsupported, "\(name) has version \(version); this program reads version \(Self.version)",
                hint: "use a later version of LocalData")
        }
        let count = UInt16(bigEndian: try take(2).loadUnaligned(as: UInt16.self))
        var entries: [Entry] = []
        for _ in 0..<count {
            let id = KeyID(try take(KeyID.size))
            guard let use = Use(rawValue: try take(1)[0]) else { throw damaged }
            let created = Int64(bigEndian: try take(8).loadUnaligned(as: Int64.self))
            let size = UInt16(bigEndian: try take(2).loadUnaligned(as: UInt16.self))
            entries.append(
                Entry(id: id, use: use, created: created, material: try SecretBytes(copying: take(Int(size)))))
        }
        let isSound = Set(entries.map(\.id)).count == entries.count && entries.count { $0.use == .active } <= 1
        guard rest.isEmpty, isSound else { throw damaged }
        self.entries = entries
    }
}
