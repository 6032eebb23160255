/// The order of the bytes of numbers.
public enum ByteOrder: Sendable {
    case bigEndian
    case littleEndian
}

/// Assembles the bytes of a record, field by field.
public struct ByteWriter: Sendable {
    /// What was added.
    public private(set) var bytes: [UInt8]
    private let order: ByteOrder

    /// - Parameters:
    ///   - bytes: What the record begins with.
    ///   - capacity: How many bytes to make room for.
    public init(_ order: ByteOrder, _ bytes: [UInt8] = [], capacity: Int = 0) {
        self.order = order
        self.bytes = bytes
        self.bytes.reserveCapacity(capacity)
    }

    /// Adds bytes as they are.
    public mutating func add(_ more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

    /// Adds one byte.
    public mutating func add(_ number: UInt8) { bytes.append(number) }

    /// Adds a number as two bytes.
    public mutating func add(_ number: UInt16) { append(number) }

    /// Adds a number as four bytes.
    public mutating func add(_ number: UInt32) { append(number) }

    /// Adds a number as eight bytes.
    public mutating func add(_ number: UInt64) { append(number) }

    /// Adds the ``StableHash`` of all bytes so far, by which damage is found.
    public mutating func addHash() { add(StableHash.of(bytes)) }

    /// Replaces a number.
    public mutating func set(_ number: UInt32, at offset: Int) {
        withUnsafeBytes(of: ordered(number)) { bytes.replaceSubrange(offset..<offset + 4, with: $0) }
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: ordered(number)) { bytes.append(contentsOf: $0) }
    }

    private func ordered<Number: FixedWidthInteger>(_ number: Number) -> Number {
        order == .bigEndian ? number.bigEndian : number.littleEndian
    }
}
