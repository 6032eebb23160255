extension ELFImage {
    /// A range of the file in memory; bytes outside of it are inaccessible.
    package struct Bytes: Sendable {
        private let storage: [UInt8]

        init(_ storage: [UInt8]) { self.storage = storage }

        /// The number of bytes.
        package var count: Int { storage.count }

        /// The bytes themselves.
        package var all: ArraySlice<UInt8> { storage[...] }

        /// The structure at a byte offset, or `nil` if it is not completely inside; alignment does not matter.
        ///
        /// The file's byte order and word size are the machine's: the header is checked before anything else is read.
        func record<Record: BitwiseCopyable>(_: Record.Type, at offset: Int) -> Record? {
            let length = MemoryLayout<Record>.size
            guard offset >= 0, length <= storage.count, offset <= storage.count - length else { return nil }
            return storage.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Record.self) }
        }

        /// All structures of a table without gaps; a partial one at the end is ignored.
        func records<Record: BitwiseCopyable>(_: Record.Type) -> [Record] {
            stride(from: 0, to: storage.count, by: MemoryLayout<Record>.stride).compactMap {
                record(Record.self, at: $0)
            }
        }

        /// Whether the text at an offset begins with these bytes.
        func hasText(_ text: [UInt8], at offset: Int) -> Bool {
            guard offset >= 0, text.count <= storage.count, offset <= storage.count - text.count else { return false }
            for index in text.indices where storage[offset + index] != text[index] { return false }
            return true
        }

        /// The bytes from an offset up to the next NUL, or `nil` if there is none.
        func string(at offset: Int) -> ArraySlice<UInt8>? {
            guard storage.indices.contains(offset) else { return nil }
            return storage[offset...].firstIndex(of: 0).map { storage[offset..<$0] }
        }
    }
}
