import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostGround
@testable import HostSealing
@testable import LocalDataHost

@Suite("Values that are sealed and opened")
struct RoundTripTests {
    private static let ways: [Way] = [.whole, .pieces(1), .pieces(7), .pieces(1023), .pieces(1024), .pieces(5000)]
    private static let sizes = [0, 1, 2, 100, 1023, 1024, 1025, 2047, 2048, 2049, 3071, 3072, 3073]

    @Test("a value of any size comes back, sealed and opened in any way", arguments: TestedCipher.all, ways)
    func everyWay(_ tested: TestedCipher, _ sealing: Way) throws {
        let (envelope, key) = (try tested.envelope(), try EnvelopeKey.ofRing())
        for size in Self.sizes {
            let value = Data.pattern(size)
            let sealed = try envelope.seal(value, sealing, under: key, as: tested.smallChunks)
            for opening in Self.ways {
                let opened = try envelope.open(sealed, opening, under: key)
                #expect(opened.value == value, "\(size) bytes, opened \(opening)")
                #expect(opened.header.extent(of: UInt64(sealed.count))?.value == size)
                #expect(opened.header.extent(of: UInt64(sealed.count))?.chunks == max(1, (size + 1023) / 1024))
            }
        }
    }

    @Test("a value larger than a chunk of the usual size comes back", arguments: TestedCipher.all)
    func usualChunks(_ tested: TestedCipher) throws {
        let (envelope, key) = (try tested.envelope(), try EnvelopeKey.ofRing())
        for size in [65_535, 65_536, 65_537, 131_072, 200_000] {
            let value = Data.pattern(size)
            for (sealing, opening) in [(Way.whole, Way.pieces(4097)), (.pieces(70_000), .whole)] {
                let sealed = try envelope.seal(value, sealing, under: key, as: EnvelopeStyle(tested.cipher))
                #expect(try envelope.open(sealed, opening, under: key).value == value)
            }
        }
    }

    @Test("a value that one provider sealed opens with any other that has its algorithms", arguments: TestedCipher.all)
    func otherProvider(_ tested: TestedCipher) throws {
        let value = Data.pattern(2500)
        for key in [try EnvelopeKey.ofRing(), try .outside()] {
            for (function, derivation) in [
                (KeyDerivationFunction.hkdfSHA256, KeyDerivation.hkdf()),
                (.hkdfSHA256, .hkdf(salt: Data("salt".utf8), info: Data("info".utf8))),
                (.pbkdf2HMACSHA256, .pbkdf2(iterations: 10)),
                (.pbkdf2HMACSHA256, .pbkdf2(iterations: 10, salt: Data("salt".utf8))),
                (.argon2id, .argon2id(passes: 1, memory: 8)),
            ] where try tested.provider.crypto.offers(function) {
                let style = EnvelopeStyle(tested.cipher, derivation, chunkExponent: 10)
                let sealed = try tested.envelope().seal(value, under: key, as: style)
                for other in Provider.allCases {
                    let crypto = try other.crypto
                    let envelope = Envelope(.token, crypto: crypto)
                    if crypto.offers(function), crypto.offers(tested.cipher) {
                        #expect(try envelope.open(sealed) { _ in key }.value == value)
                    } else {
                        expectRefused(sealed, by: envelope, under: key, allowing: [Named.algorithm])
                    }
                }
            }
        }
    }

    @Test("a passphrase seals by Argon2id where the provider has it")
    func argon2id() throws {
        let (crypto, key) = (try Provider.sodium.crypto, try EnvelopeKey.outside())
        let envelope = Envelope(.token, crypto: crypto)
        let style = EnvelopeStyle(.chaCha20Poly1305, .argon2id(passes: 1, memory: 64))
        let sealed = try envelope.seal(Data("dark".utf8), under: key, as: style)
        let opened = try envelope.open(sealed) { _ in key }
        #expect(opened.value == Data("dark".utf8))
        guard case .argon2id(1, 64, let salt) = opened.header.derivation else {
            Issue.record("\(opened.header.derivation)")
            return
        }
        #expect(salt.count == 16)
        let other = try EnvelopeKey.outside("correct horsf")
        expectRefused(sealed, by: envelope, under: other, allowing: [Named.key])
    }

    @Test("two envelopes of one value share only their headers' plain fields", arguments: TestedCipher.all)
    func randomness(_ tested: TestedCipher) throws {
        let (envelope, key) = (try tested.envelope(), try EnvelopeKey.ofRing())
        let value = Data(repeating: 0, count: 3000)
        let seals = try (0..<20).map { _ in try envelope.seal(value, under: key, as: tested.smallChunks) }
        #expect(Set(seals.map { $0[32..<64] }).count == 20)
        #expect(Set(seals.map { $0[0..<32] }).count == 1)
        // No block of any of them occurs twice, though every plaintext block is the same.
        var blocks: Set<Data> = []
        for sealed in seals {
            for at in stride(from: 64, to: 64 + 1024, by: 16) { blocks.insert(sealed[at..<at + 16]) }
            for at in stride(from: 64 + 1040, to: 64 + 2064, by: 16) { blocks.insert(sealed[at..<at + 16]) }
        }
        #expect(blocks.count == 20 * 128)
    }

    @Test("attributes come back, except size and time, which the store knows", arguments: [Way.whole, .pieces(50)])
    func attributes(_ way: Way) throws {
        let envelope = Envelope(.token, crypto: try Provider.openssl.crypto)
        let key = try EnvelopeKey.ofRing()
        var attributes = ValueAttributes(
            contentType: "text/plain", serializer: "string", versionTag: "3", appVersion: "2.1", owner: "Cafe\u{301}",
            size: 4, modified: 5)
        let style = EnvelopeStyle(.chaCha20Poly1305)
        let sealed = try envelope.seal(Data("dark".utf8), way, under: key, as: style, attributes: attributes)
        attributes.size = nil
        attributes.modified = nil
        let header = try envelope.open(sealed, way, under: key).header
        #expect(header.attributes == attributes)
        #expect(header.attributes.owner?.utf8.elementsEqual("Cafe\u{301}".utf8) == true)
        for part in [\ValueAttributes.contentType, \.serializer, \.versionTag, \.appVersion, \.owner] {
            var one = ValueAttributes()
            one[keyPath: part] = "only"
            let sealed = try envelope.seal(Data(), way, under: key, as: style, attributes: one)
            #expect(try envelope.open(sealed, way, under: key).header.attributes == one)
            one[keyPath: part] = ""
            let empty = try envelope.seal(Data(), way, under: key, as: style, attributes: one)
            #expect(try envelope.open(empty, way, under: key).header.attributes == ValueAttributes())
        }
    }
}
