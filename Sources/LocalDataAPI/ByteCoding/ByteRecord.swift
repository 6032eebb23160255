/// The order of the bytes of numbers.
@frozen @usableFromInline package enum ByteOrder: Sendable {
    case bigEndian
    case littleEndian
}

/// Assembles the bytes of a record, field by field.
package struct ByteWriter {
    package private(set) var bytes: [UInt8]
    private let order: ByteOrder

    /// - Parameters:
    ///   - bytes: What the record begins with.
    ///   - capacity: How many bytes to make room for.
    package init(_ order: ByteOrder, _ bytes: [UInt8] = [], capacity: Int = 0) {
        self.order = order
        self.bytes = bytes
        self.bytes.reserveCapacity(capacity)
    }

    package mutating func add(_ more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

    package mutating func add(_ number: UInt8) { bytes.append(number) }

    package mutating func add(_ number: UInt16) { append(number) }

    package mutating func add(_ number: UInt32) { append(number) }

    package mutating func add(_ number: UInt64) { append(number) }

    /// Adds the ``StableHash`` of all bytes so far, by which damage is found.
    package mutating func addHash() { add(StableHash.of(bytes)) }

    /// Replaces a number.
    package mutating func set(_ number: UInt32, at offset: Int) {
        withUnsafeBytes(of: ordered(number)) { bytes.replaceSubrange(offset..<offset + 4, with: $0) }
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: ordered(number)) { bytes.append(contentsOf: $0) }
    }

    private func ordered<Number: FixedWidthInteger>(_ number: Number) -> Number {
        order == .bigEndian ? number.bigEndian : number.littleEndian
    }
}

/// Takes the bytes of a record apart, field by field. Nothing that is read is trusted: what is not there is `nil`.
package struct ByteReader {
    @usableFromInline let content: [UInt8]
    @usableFromInline var offset = 0
    @usableFromInline let order: ByteOrder

    package init(_ order: ByteOrder, _ bytes: some Sequence<UInt8>) {
        self.order = order
        content = Array(bytes)
    }

    /// Reads a record that ends with the hash of all preceding bytes, as ``ByteWriter/addHash()`` adds it.
    ///
    /// - Returns: `nil` if the hash does not match.
    package init?(hashed order: ByteOrder, _ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        var hash = ByteReader(order, bytes.suffix(8))
        let content = Array(bytes.dropLast(8))
        guard hash.number(UInt64.self) == StableHash.of(content) else { return nil }
        self.init(order, content)
    }

    @inlinable package var isAtEnd: Bool { offset == content.count }

    /// The next bytes.
    @inlinable package mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= content.count - offset else { return nil }
        defer { offset += count }
        return content[offset..<offset + count]
    }

    /// All bytes that are left.
    package mutating func remainder() -> ArraySlice<UInt8> {
        defer { offset = content.count }
        return content[offset...]
    }

    /// The next number.
    @inlinable package mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        let size = MemoryLayout<Number>.size
        guard size <= content.count - offset else { return nil }
        var number: Number = 0
        for index in 0..<size {
            let place = order == .bigEndian ? index : size - 1 - index
            number = (size == 1 ? 0 : number << 8) | Number(truncatingIfNeeded: content[offset + place])
        }
        offset += size
        return number
    }
}
