import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostGround
@testable import HostSealing
@testable import LocalDataHost

extension StorageAddress {
    static let token = StorageAddress(StorageNamespace(domain: "keychain", scope: "org.example"), name: "token")
}

extension EnvelopeKey {
    /// A key of a ring.
    static func ofRing(byte: UInt8 = 7, ring: String? = nil) throws -> EnvelopeKey {
        let id = try #require(KeyID("00112233445566778899aabbccddeeff"))
        return EnvelopeKey(try .repeating(byte), id: id, ring: ring)
    }

    /// External key material.
    static func outside(_ text: String = "correct horse") throws -> EnvelopeKey {
        EnvelopeKey(try Data(text.utf8).withUnsafeBytes { try SecretBytes(copying: $0) })
    }
}

extension SecretBytes {
    static func repeating(_ byte: UInt8) throws -> SecretBytes {
        try SecretBytes(count: 32) { (memory) throws(StorageError) in
            memory.initializeMemory(as: UInt8.self, repeating: byte)
        }
    }
}

extension Data {
    /// A value whose bytes encode their positions: 0, 1, ... 250, 0, 1, ...
    static func pattern(_ count: Int) -> Data { Data((0..<count).map { UInt8($0 % 251) }) }

    /// The bytes of a hexadecimal text.
    init?(hex: String) {
        let digits = Array(hex.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        self.init()
        for at in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[at...at + 1], as: UTF8.self), radix: 16) else { return nil }
            append(byte)
        }
    }

    /// Hexadecimal digits.
    var hex: String {
        String(decoding: flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// A copy with one bit changed.
    func flipping(_ bit: Int) -> Data {
        var copy = self
        copy[copy.startIndex + bit / 8] ^= 1 << (bit % 8)
        return copy
    }
}
