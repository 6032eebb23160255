internal import FoundationEssentials
internal import LocalDataAPI

/// Why bytes are no header that this version reads.
package enum EnvelopeFault: Error, Equatable, Sendable {
    /// They do not start as an envelope does.
    case notAnEnvelope
    /// They start as an envelope does and end too early; with this many bytes in all there is more to say.
    case incomplete(needs: Int)
    /// Another version wrote them.
    case version(UInt8)
    /// They contradict the specification.
    case malformed
}

extension EnvelopeHeader {
    /// Reads the header at the start of `bytes`.
    ///
    /// - Throws: What is wrong with it; `incomplete` if `bytes` end before the header does.
    package init(parsing bytes: UnsafeRawBufferPointer) throws(EnvelopeFault) {
        let size = try Self.size(of: bytes)
        guard bytes.count >= size else { throw .incomplete(needs: size) }
        var reader = EnvelopeReader(UnsafeRawBufferPointer(rebasing: bytes[5..<size]))
        guard let cipher = AuthenticatedCipher(id: Int32(try reader.byte())),
            let function = KeyDerivationFunction(rawValue: Int32(try reader.byte()))
        else { throw .malformed }
        self.cipher = cipher
        chunkExponent = try reader.byte()
        guard Self.chunkExponents.contains(chunkExponent) else { throw .malformed }
        _ = try reader.number(UInt32.self)
        let iterations = try reader.number(UInt32.self)
        keyID = KeyID(try reader.take(KeyID.size))
        salt = Data(try reader.take(Self.saltSize))
        var fields = EnvelopeFields()
        var last: UInt8 = 0
        while !reader.isAtEnd {
            let type = try reader.byte()
            guard type > last, let known = EnvelopeField(rawValue: type) else { throw .malformed }
            last = type
            let count = try reader.number(UInt16.self)
            try fields.take(known, reader.take(Int(count)))
        }
        attributes = fields.attributes
        ring = fields.ring
        derivation = try fields.derivation(function, iterations)
        encoded = Data(bytes[..<size])
    }

    /// The size of the header that `bytes` start with.
    static func size(of bytes: UnsafeRawBufferPointer) throws(EnvelopeFault) -> Int {
        guard bytes.prefix(4).elementsEqual(magic.prefix(bytes.count)) else { throw .notAnEnvelope }
        guard bytes.count > 4 else { throw .incomplete(needs: 12) }
        guard bytes[4] == version else { throw .version(bytes[4]) }
        guard bytes.count >= 12 else { throw .incomplete(needs: 12) }
        let size = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self)))
        guard (fixedSize...largestSize).contains(size) else { throw .malformed }
        return size
    }
}

/// What the fields of a header say.
private struct EnvelopeFields {
    var attributes = ValueAttributes()
    var ring: String?
    private var salt: Data?
    private var info: Data?
    private var memory: UInt32?

    mutating func take(_ field: EnvelopeField, _ bytes: UnsafeRawBufferPointer) throws(EnvelopeFault) {
        func text() throws(EnvelopeFault) -> String {
            guard !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self) else { throw .malformed }
            return text
        }
        switch field {
        case .contentType: attributes.contentType = try text()
        case .serializer: attributes.serializer = try text()
        case .versionTag: attributes.versionTag = try text()
        case .appVersion: attributes.appVersion = try text()
        case .owner: attributes.owner = try text()
        case .ring: ring = try text()
        case .derivationSalt: salt = Data(bytes)
        case .derivationInfo: info = Data(bytes)
        case .derivationMemory:
            guard bytes.count == 4 else { throw .malformed }
            memory = UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))
        }
    }

    func derivation(
        _ function: KeyDerivationFunction, _ iterations: UInt32
    ) throws(EnvelopeFault) -> EnvelopeDerivation {
        let derivation: EnvelopeDerivation
        switch function {
        case .hkdfSHA256:
            guard iterations == 0, memory == nil else { throw .malformed }
            derivation = .hkdf(salt: salt, info: info)
        case .pbkdf2HMACSHA256:
            guard let salt, info == nil, memory == nil else { throw .malformed }
            derivation = .pbkdf2(iterations: iterations, salt: salt)
        case .argon2id:
            guard let salt, info == nil, let memory else { throw .malformed }
            derivation = .argon2id(passes: iterations, memory: memory, salt: salt)
        }
        guard derivation.fault == nil else { throw .malformed }
        return derivation
    }
}

/// Takes bytes apart; what is not there is `malformed`.
private struct EnvelopeReader {
    private var rest: Slice<UnsafeRawBufferPointer>

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ count: Int) throws(EnvelopeFault) -> UnsafeRawBufferPointer {
        guard rest.count >= count else { throw .malformed }
        defer { rest = rest.dropFirst(count) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }

    mutating func byte() throws(EnvelopeFault) -> UInt8 { try take(1)[0] }

    mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
        _: Number.Type
    ) throws(EnvelopeFault) -> Number {
        Number(bigEndian: try take(MemoryLayout<Number>.size).loadUnaligned(as: Number.self))
    }
}
