internal import ByteCoding
package import HostGround
internal import HostPlugins
internal import LocalDataAPI

/// The secret for sealing and opening: a key of a ring, or material from outside.
package struct EnvelopeKey: Sendable {
    /// The secret that a record's own key is derived from.
    package let material: SecretBytes
    /// The id in its ring; `nil` for material from outside, whose id is derived from it.
    package let id: KeyID?
    /// The ring's name for headers.
    package let ring: String?
    /// When the copy of the ring was read that lends the key for sealing, if machines share the ring.
    let read: MachineTime?

    /// A key of a ring, or material from outside.
    package init(_ material: SecretBytes, id: KeyID? = nil, ring: String? = nil) {
        self.init(material, id: id, ring: ring, read: nil)
    }

    init(_ material: SecretBytes, id: KeyID?, ring: String?, read: MachineTime?) {
        self.material = material
        self.id = id
        self.ring = ring
        self.read = read
    }
}

/// Identifies a key: 16 bytes, random for the keys of a ring, derived from the key for those from outside.
package struct KeyID: Hashable, Sendable {
    /// The size of an id in bytes.
    package static let size = 16

    package let high: UInt64
    package let low: UInt64

    /// Reads the 16 bytes at the start of a buffer.
    init(_ bytes: UnsafeRawBufferPointer) {
        high = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
        low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// The id that 32 hexadecimal digits encode; `nil` for other text.
    package init?(_ text: some StringProtocol) {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
        // Integer parsing accepts a sign, an id does not.
        guard digits.count == 32, digits[0] != UInt8(ascii: "+"), digits[16] != UInt8(ascii: "+"),
            let high = UInt64(String(decoding: digits[..<16], as: UTF8.self), radix: 16),
            let low = UInt64(String(decoding: digits[16...], as: UTF8.self), radix: 16)
        else { return nil }
        self.high = high
        self.low = low
    }

    /// The 16 bytes.
    var bytes: [UInt8] {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }
}

extension KeyID: CustomStringConvertible {
    /// 32 lower-case hexadecimal digits.
    package var description: String {
        [high, low].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

extension KeyID: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
