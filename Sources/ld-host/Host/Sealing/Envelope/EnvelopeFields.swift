internal import ByteCoding
internal import FoundationEssentials
internal import LocalDataAPI

/// The parsed fields of a header.
struct EnvelopeFields {
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
