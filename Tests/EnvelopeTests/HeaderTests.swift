import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostSealing
@testable import LocalDataHost

@Suite("Headers of sealed values")
struct HeaderTests {
    private static func header(
        _ derivation: EnvelopeDerivation = .hkdf(), attributes: ValueAttributes = ValueAttributes(), ring: String? = nil
    ) throws -> EnvelopeHeader {
        try EnvelopeHeader(
            cipher: .chaCha20Poly1305, derivation: derivation,
            keyID: #require(KeyID(String(repeating: "1f", count: 16))),
            salt: Data(repeating: 2, count: 32), attributes: attributes, ring: ring)
    }

    private static func parse(_ bytes: Data) throws -> EnvelopeHeader {
        try bytes.withUnsafeBytes { try EnvelopeHeader(parsing: $0) }
    }

    /// The fault that parsing reports for some bytes.
    private static func fault(_ bytes: Data) throws -> EnvelopeFault {
        try #require(throws: EnvelopeFault.self) { _ = try parse(bytes) }
    }

    @Test(
        "a written header can be read",
        arguments: [
            EnvelopeDerivation.hkdf(), .hkdf(salt: Data()), .hkdf(info: Data()),
            .hkdf(salt: Data([1]), info: Data([2])),
            .pbkdf2(iterations: 1, salt: Data()), .pbkdf2(iterations: 10_000_000, salt: Data([1, 2, 3])),
            .argon2id(passes: 1, memory: 8, salt: Data(repeating: 9, count: 16)),
            .argon2id(passes: 1 << 19, memory: 8, salt: Data(repeating: 9, count: 16)),
            .argon2id(passes: 4, memory: 1 << 20, salt: Data(repeating: 9, count: 16)),
        ])
    func roundTrips(_ derivation: EnvelopeDerivation) throws {
        for ring in [nil, "service/account"] {
            for owner in [nil, "owner", String(repeating: "o", count: 10_000)] {
                let header = try Self.header(derivation, attributes: ValueAttributes(owner: owner), ring: ring)
                #expect(try Self.parse(header.encoded) == header)
                #expect(try Self.parse(header.encoded + Data(repeating: 7, count: 100)) == header)
            }
        }
    }

    @Test("a header that is too short is refused with the number of bytes that it needs")
    func incomplete() throws {
        let header = try Self.header(attributes: ValueAttributes(owner: "owner")).encoded
        for count in 0..<header.count {
            #expect(try Self.fault(header.prefix(count)) == .incomplete(needs: count < 12 ? 12 : header.count))
        }
    }

    @Test("bytes that are not an envelope are recognized at the first differing byte")
    func magic() throws {
        for (count, bytes) in [(1, [0x88]), (2, [0x89, 0x4D]), (4, [0x89, 0x4C, 0x44, 0x44])] as [(Int, [UInt8])] {
            #expect(try Self.fault(Data(bytes)) == .notAnEnvelope, "\(count) bytes")
        }
        for version in [0, 2, 255] as [UInt8] {
            #expect(try Self.fault(Data([0x89, 0x4C, 0x44, 0x45, version])) == .version(version))
        }
    }

    @Test("a header has at most 16 KiB, and a field 65,535 bytes")
    func limits() throws {
        #expect(
            try Self.header(attributes: ValueAttributes(owner: String(repeating: "o", count: 16_317))).encoded.count
                == 16_384)
        for count in [16_318, 65_535, 65_536, 1 << 20] {
            #expect(throws: StorageError.valueTooLarge) {
                try Self.header(attributes: ValueAttributes(owner: String(repeating: "o", count: count)))
            }
        }
    }

    @Test(
        "a style that no reader would open is refused before anything is sealed",
        arguments: [
            EnvelopeStyle(.chaCha20Poly1305, .pbkdf2(iterations: 0)),
            EnvelopeStyle(.chaCha20Poly1305, .pbkdf2(iterations: 10_000_001)),
            EnvelopeStyle(.chaCha20Poly1305, .pbkdf2(iterations: .max, salt: Data())),
            EnvelopeStyle(.chaCha20Poly1305, .argon2id(passes: 0, memory: 64)),
            EnvelopeStyle(.chaCha20Poly1305, .argon2id(passes: 1, memory: 7)),
            EnvelopeStyle(.chaCha20Poly1305, .argon2id(passes: 1, memory: 0)),
            EnvelopeStyle(.chaCha20Poly1305, .argon2id(passes: 1, memory: .max)),
            EnvelopeStyle(.chaCha20Poly1305, .argon2id(passes: 5, memory: 1 << 20)),
            EnvelopeStyle(.chaCha20Poly1305, .argon2id(passes: .max, memory: .max)),
            EnvelopeStyle(.chaCha20Poly1305, chunkExponent: 9), EnvelopeStyle(.chaCha20Poly1305, chunkExponent: 25),
            EnvelopeStyle(.chaCha20Poly1305, chunkExponent: 255),
        ])
    func styles(_ style: EnvelopeStyle) throws {
        for provider in Provider.allCases {
            let envelope = Envelope(.token, crypto: try provider.crypto)
            let error = try #require(throws: StorageError.self) {
                try envelope.seal(Data(), under: .ofRing(), as: style)
            }
            #expect(error.code == .securityApplicationFailed)
            #expect(error.message.contains("expected"))
        }
    }

    @Test(
        "the size of a value follows from the sizes of header and envelope",
        arguments: [
            (80, 1, 0), (81, 1, 1), (64 + 1040, 1, 1024), (64 + 1040 + 17, 2, 1025), (64 + 2080, 2, 2048),
            (64 + 2080 + 17, 3, 2049),
        ] as [(UInt64, Int, Int)])
    func extents(_ total: UInt64, _ chunks: Int, _ value: Int) throws {
        let header = try EnvelopeHeader(
            cipher: .chaCha20Poly1305, derivation: .hkdf(), chunkExponent: 10,
            keyID: #require(KeyID(String(repeating: "0", count: 32))), salt: Data(repeating: 0, count: 32))
        let extent = try #require(header.extent(of: total))
        #expect(extent.chunks == chunks)
        #expect(extent.value == value)
        let wrong: [UInt64] = [0, 63, 64, 65, 79, 1105, 1120, 2145, 2160, 1 << 63, .max]
        for wrong in wrong {
            #expect(header.extent(of: wrong) == nil, "\(wrong) bytes")
        }
    }

    @Test("ids are read and written as 32 hexadecimal digits")
    func keyIDs() throws {
        let id = try #require(KeyID("00112233-4455-6677-8899-AABBCCDDEEFF"))
        #expect("\(id)" == "00112233445566778899aabbccddeeff")
        #expect(KeyID("\(id)") == id)
        #expect(id.bytes.withUnsafeBytes { KeyID($0) } == id)
        let others: [String] = [
            "", "0011", "g0112233445566778899aabbccddeeff", "+0112233445566778899aabbccddeeff",
            "00112233445566778899aabbccddeeff0", "0011223344556677+899aabbccddeeff",
        ]
        for text in others { #expect(KeyID(text) == nil, "\(text)") }
    }
}
