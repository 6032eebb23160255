internal import ByteCoding
package import FoundationEssentials
package import LocalDataAPI

/// The header of a sealed value: which key opens it and how, and the value's attributes. The specification is in
/// `LocalDataAPI.docc/Envelope.md`.
package struct EnvelopeHeader: Equatable, Sendable {
    /// The start of every envelope; no text starts with its first byte.
    package static let magic: [UInt8] = [0x89, 0x4C, 0x44, 0x45]
    /// The version that is written.
    static let version: UInt8 = 1
    /// Bytes before the fields.
    static let fixedSize = 64
    /// The largest header in bytes.
    package static let largestSize = 16 << 10
    /// The size of a record's salt in bytes.
    static let saltSize = 32
    /// The possible chunk sizes, as powers of two.
    static let chunkExponents: ClosedRange<UInt8> = 10...24
    /// The chunk size for writing, as a power of two: 64 KiB.
    package static let usualChunkExponent: UInt8 = 16

    package let cipher: AuthenticatedCipher
    package let derivation: EnvelopeDerivation
    /// The chunks' size, as a power of two.
    package let chunkExponent: UInt8
    package let keyID: KeyID
    /// The record's own salt: random, 32 bytes.
    package let salt: Data
    /// The value's attributes; authenticated, not encrypted.
    package let attributes: ValueAttributes
    /// The ring that has the key, as `service/account`; `nil` for the default ring, and for keys outside of rings.
    package let ring: String?
    /// The header as encoded in the envelope.
    package let encoded: Data

    /// The plaintext size of a full chunk, in bytes.
    package var chunkSize: Int { 1 << Int(chunkExponent) }

    /// The value size in an envelope of this size; `nil` if no envelope has this size.
    package func valueSize(ofEnvelope size: UInt64) -> UInt64? {
        let (header, chunk) = (UInt64(encoded.count), UInt64(chunkSize + cipher.tagSize))
        guard size >= header + UInt64(cipher.tagSize) else { return nil }
        let (rest, isPartial) = (size - header).quotientAndRemainder(dividingBy: chunk)
        let count = max(1, rest + (isPartial > 0 ? 1 : 0))
        let (value, overflow) = (size - header).subtractingReportingOverflow(count * UInt64(cipher.tagSize))
        return overflow ? nil : value
    }

    /// Creates a header.
    ///
    /// - Throws: `valueTooLarge` if attributes and parameters do not fit.
    package init(
        cipher: AuthenticatedCipher, derivation: EnvelopeDerivation, chunkExponent: UInt8 = usualChunkExponent,
        keyID: KeyID, salt: Data, attributes: ValueAttributes = ValueAttributes(), ring: String? = nil
    ) throws(StorageError) {
        self.cipher = cipher
        self.derivation = derivation
        self.chunkExponent = chunkExponent
        self.keyID = keyID
        self.salt = salt
        // Empty text means the same as none, and has only one encoding.
        func text(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
        self.attributes = ValueAttributes(
            contentType: text(attributes.contentType), serializer: text(attributes.serializer),
            versionTag: text(attributes.versionTag), appVersion: text(attributes.appVersion),
            owner: text(attributes.owner))
        self.ring = text(ring)
        var writer = ByteWriter(.bigEndian, capacity: 256)
        writer.add(Self.magic)
        writer.add(Self.version)
        writer.add(UInt8(cipher.id))
        writer.add(UInt8(derivation.function.rawValue))
        writer.add(chunkExponent)
        writer.add(UInt32(0))
        writer.add(derivation.iterations)
        writer.add(keyID.high)
        writer.add(keyID.low)
        writer.add(salt)
        try writer.add(.contentType, self.attributes.contentType?.utf8)
        try writer.add(.serializer, self.attributes.serializer?.utf8)
        try writer.add(.versionTag, self.attributes.versionTag?.utf8)
        try writer.add(.appVersion, self.attributes.appVersion?.utf8)
        try writer.add(.owner, self.attributes.owner?.utf8)
        try writer.add(.derivationSalt, derivation.salt)
        try writer.add(.derivationInfo, derivation.info)
        if let memory = derivation.memory {
            try writer.add(.derivationMemory, withUnsafeBytes(of: memory.bigEndian) { Array($0) })
        }
        try writer.add(.ring, self.ring?.utf8)
        guard writer.bytes.count <= Self.largestSize else {
            throw StorageError(
                .valueTooLarge,
                "the header of a sealed value would have \(writer.bytes.count) bytes; expected at most "
                    + "\(Self.largestSize)",
                hint: "shorten the key's owner, version tag, salt or info")
        }
        writer.set(UInt32(writer.bytes.count), at: 8)
        encoded = Data(writer.bytes)
    }
}

extension EnvelopeHeader {
    /// The number of chunks and of value bytes after this header in an envelope of a size; `nil` if no envelope can
    /// have that size.
    package func extent(of sealedSize: UInt64) -> (chunks: Int, value: Int)? {
        guard let total = Int(exactly: sealedSize), total >= encoded.count else { return nil }
        let (body, tagSize) = (total - encoded.count, cipher.tagSize)
        let full = chunkSize + tagSize
        let count = body / full + (body % full == 0 ? 0 : 1)
        let last = body - (count - 1) * full
        // Only an empty value has a last chunk without plaintext.
        guard count > 0, last >= tagSize, last > tagSize || count == 1 else { return nil }
        return (count, body - count * tagSize)
    }
}

extension EnvelopeHeader {
    /// Whether a value is an envelope, as far as its header says.
    package static func begins(_ value: UnsafeRawBufferPointer) -> Bool {
        value.starts(with: magic) && (try? EnvelopeHeader(parsing: value)) != nil
    }

    /// Reads the header at the start of `bytes`.
    ///
    /// - Throws: The fault; `incomplete` if `bytes` end before the header does.
    package init(parsing bytes: UnsafeRawBufferPointer) throws(EnvelopeFault) {
        let size = try Self.size(of: bytes)
        guard bytes.count >= size else { throw .incomplete(needs: size) }
        var reader = EnvelopeReader(UnsafeRawBufferPointer(rebasing: bytes[5..<size]))
        let (cipher, function) = (try reader.byte(), try reader.byte())
        guard let known = AuthenticatedCipher(id: Int32(cipher)) else {
            throw .malformed("the unknown cipher \(cipher)")
        }
        guard let function = KeyDerivationFunction(rawValue: Int32(function)) else {
            throw .malformed("the unknown derivation \(function)")
        }
        self.cipher = known
        chunkExponent = try reader.byte()
        guard Self.chunkExponents.contains(chunkExponent) else {
            throw .malformed("chunks of 2^\(chunkExponent) bytes; expected 2^10 to 2^24")
        }
        _ = try reader.number(UInt32.self)
        let iterations = try reader.number(UInt32.self)
        keyID = KeyID(try reader.take(KeyID.size))
        salt = try reader.data(Self.saltSize)
        var fields = EnvelopeFields()
        var last: UInt8 = 0
        while !reader.isAtEnd {
            let type = try reader.byte()
            guard let known = EnvelopeField(rawValue: type) else {
                throw .malformed("the unknown field \(type)")
            }
            guard type > last else { throw .malformed("the field \(type) after the field \(last)") }
            last = type
            let count = try reader.number(UInt16.self)
            try fields.take(known, reader.take(Int(count)))
        }
        attributes = fields.attributes
        ring = fields.ring
        derivation = try fields.derivation(function, iterations)
        encoded = Data(UnsafeRawBufferPointer(rebasing: bytes[..<size]))
    }

    /// The size of the header at the start of `bytes`.
    static func size(of bytes: UnsafeRawBufferPointer) throws(EnvelopeFault) -> Int {
        for index in 0..<min(bytes.count, 4) where bytes[index] != magic[index] { throw .notAnEnvelope }
        guard bytes.count > 4 else { throw .incomplete(needs: 12) }
        guard bytes[4] == version else { throw .version(bytes[4]) }
        guard bytes.count >= 12 else { throw .incomplete(needs: 12) }
        let size = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self)))
        guard (fixedSize...largestSize).contains(size) else {
            throw .malformed("a size of \(size) bytes; expected \(fixedSize) to \(largestSize)")
        }
        return size
    }
}

/// Parses bytes; missing bytes are `malformed`, as they can only be missing inside a field.
private struct EnvelopeReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    @inline(__always)
    mutating func take(_ count: Int) throws(EnvelopeFault) -> UnsafeRawBufferPointer {
        guard bytes.count - position >= count else { throw .malformed("a field that ends after the header") }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
    }

    mutating func data(_ count: Int) throws(EnvelopeFault) -> Data { Data(try take(count)) }

    mutating func byte() throws(EnvelopeFault) -> UInt8 { try take(1)[0] }

    mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
        _: Number.Type
    ) throws(EnvelopeFault) -> Number {
        Number(bigEndian: try take(MemoryLayout<Number>.size).loadUnaligned(as: Number.self))
    }
}

extension UnsafeRawBufferPointer {
    /// The text; `nil` if it is not UTF-8.
    var utf8Text: String? {
        withMemoryRebound(to: UInt8.self) { String(validating: $0, as: UTF8.self) }
    }
}

/// The types of a header's fields.
enum EnvelopeField: UInt8 {
    case contentType = 1
    case serializer = 2
    case versionTag = 3
    case appVersion = 4
    case owner = 5
    case derivationSalt = 16
    case derivationInfo = 17
    case derivationMemory = 18
    case ring = 32
}

extension ByteWriter {
    /// Adds a field, if it has content.
    ///
    /// - Throws: `valueTooLarge` if its size does not fit.
    mutating func add(_ field: EnvelopeField, _ content: (some Collection<UInt8>)?) throws(StorageError) {
        guard let content else { return }
        guard let count = UInt16(exactly: content.count) else {
            throw StorageError(
                .valueTooLarge, "\(field) of a sealed value has \(content.count) bytes; at most \(UInt16.max)")
        }
        add(field.rawValue)
        add(count)
        add(content)
    }
}
