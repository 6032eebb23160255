package import FoundationEssentials
package import LocalDataAPI

/// The header of a sealed value: which key opens it and how, and the value's attributes. The specification is in
/// `LocalDataAPI.docc/Envelope.md`.
package struct EnvelopeHeader: Equatable, Sendable {
    /// The start of every envelope; no text starts with its first byte.
    static let magic: [UInt8] = [0x89, 0x4C, 0x44, 0x45]
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
    func valueSize(ofEnvelope size: UInt64) -> UInt64? {
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
        var writer = EnvelopeWriter()
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
