/// Takes the bytes of a record apart, field by field. Nothing that is read is trusted: what is not there is `nil`.
public struct ByteReader: Sendable {
    private var content: [UInt8]
    /// Where the fields end in it.
    private let end: Int
    private var offset = 0
    private let order: ByteOrder

    /// Reads a record from its first byte on; numbers have their bytes in the given order.
    public init(_ order: ByteOrder, _ bytes: some Sequence<UInt8>) {
        self.order = order
        content = Array(bytes)
        end = content.count
    }

    /// Reads a record that ends with the hash of all preceding bytes, as ``ByteWriter/addHash()`` adds it.
    ///
    /// - Returns: `nil` if the hash does not match.
    public init?(hashed order: ByteOrder, _ bytes: some Sequence<UInt8>) {
        self.order = order
        content = Array(bytes)
        end = content.count - 8
        guard end >= 0 else { return nil }
        let hash = content.withUnsafeBytes {
            (
                StableHash.of(UnsafeRawBufferPointer(rebasing: $0[..<end])),
                $0.loadUnaligned(fromByteOffset: end, as: UInt64.self)
            )
        }
        guard hash.0 == (order == .bigEndian ? hash.1.bigEndian : hash.1.littleEndian) else { return nil }
    }

    /// Whether all has been read.
    public var isAtEnd: Bool { offset == end }

    /// Overwrites this reader's copy of the bytes, in which a secret is. Slices of it must be gone.
    public mutating func clear() {
        content.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: 0) }
        offset = end
    }

    /// The next bytes.
    public mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= end - offset else { return nil }
        defer { offset += count }
        return content[offset..<offset + count]
    }

    /// All bytes that are left.
    public mutating func remainder() -> ArraySlice<UInt8> {
        defer { offset = end }
        return content[offset..<end]
    }

    /// The next number.
    public mutating func number(_ type: UInt8.Type) -> UInt8? { next() }

    /// The next two bytes as a number; `nil` if there are not as many.
    public mutating func number(_ type: UInt16.Type) -> UInt16? { next() }

    /// The next four bytes as a number; `nil` if there are not as many.
    public mutating func number(_ type: UInt32.Type) -> UInt32? { next() }

    /// The next eight bytes as a number; `nil` if there are not as many.
    public mutating func number(_ type: UInt64.Type) -> UInt64? { next() }

    private mutating func next<Number: FixedWidthInteger>() -> Number? {
        let size = MemoryLayout<Number>.size
        guard size <= end - offset else { return nil }
        let number = content.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
        offset += size
        return order == .bigEndian ? number.bigEndian : number.littleEndian
    }
}
