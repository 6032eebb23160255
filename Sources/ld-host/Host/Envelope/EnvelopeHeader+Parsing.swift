internal import FoundationEssentials
internal import LocalDataAPI

extension EnvelopeHeader {
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

/// The parsed fields of a header.
private struct EnvelopeFields {
    var attributes = ValueAttributes()
    var ring: String?
    private var salt: Data?
    private var info: Data?
    private var memory: UInt32?

    mutating func take(_ field: EnvelopeField, _ bytes: UnsafeRawBufferPointer) throws(EnvelopeFault) {
        func text() throws(EnvelopeFault) -> String {
            guard !bytes.isEmpty, let text = bytes.utf8Text else {
                throw .malformed("a field \(field.rawValue) that is \(bytes.isEmpty ? "empty" : "not UTF-8")")
            }
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
            guard bytes.count == 4 else { throw .malformed("a number of \(bytes.count) bytes; expected 4") }
            memory = UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))
        }
    }

    func derivation(
        _ function: KeyDerivationFunction, _ iterations: UInt32
    ) throws(EnvelopeFault) -> EnvelopeDerivation {
        let derivation: EnvelopeDerivation
        var contradiction: EnvelopeFault { .malformed("parameters of a derivation other than \(function)") }
        switch function {
        case .hkdfSHA256:
            guard iterations == 0, memory == nil else { throw contradiction }
            derivation = .hkdf(salt: salt, info: info)
        case .pbkdf2HMACSHA256:
            guard let salt, info == nil, memory == nil else { throw contradiction }
            derivation = .pbkdf2(iterations: iterations, salt: salt)
        case .hkdfSHA512, .pbkdf2HMACSHA512:
            throw .malformed("the derivation \(function), which envelopes do not have")
        case .argon2id:
            guard let salt, info == nil, let memory else { throw contradiction }
            derivation = .argon2id(passes: iterations, memory: memory, salt: salt)
        }
        if let fault = derivation.fault { throw .malformed(fault) }
        return derivation
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
    fileprivate var utf8Text: String? {
        withMemoryRebound(to: UInt8.self) { String(validating: $0, as: UTF8.self) }
    }
}
