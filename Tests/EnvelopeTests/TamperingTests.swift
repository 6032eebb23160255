import FoundationEssentials
import Glibc
import LocalDataAPI
import Testing

@testable import HostGround
@testable import HostSealing
@testable import LocalDataHost

@Suite("Sealed values that were changed")
struct TamperingTests {
    /// A value that has a header with every kind of field, under each kind of key.
    private static func sealed(
        _ tested: TestedCipher, _ key: EnvelopeKey, _ size: Int, _ derivation: KeyDerivation = .hkdf()
    ) throws -> (envelope: Envelope, value: Data, sealed: Data) {
        let envelope = try tested.envelope()
        let value = Data.pattern(size)
        let attributes = ValueAttributes(contentType: "text/plain", serializer: "string", owner: "app")
        let style = EnvelopeStyle(tested.cipher, derivation, chunkExponent: 10)
        return (envelope, value, try envelope.seal(value, under: key, as: style, attributes: attributes))
    }

    @Test("every bit of header, value and tag counts", arguments: TestedCipher.all)
    func everyBit(_ tested: TestedCipher) throws {
        let key = try EnvelopeKey.ofRing(ring: "org.example/backup")
        let (envelope, _, sealed) = try Self.sealed(
            tested, key, 30, .hkdf(salt: Data("salt".utf8), info: Data("info".utf8)))
        for bit in 0..<8 * sealed.count {
            let others =
                switch bit / 8 {
                case 4: [Named.version]
                case 5: [Named.algorithm]
                case 16..<32: [Named.key]
                default: [String]()
                }
            expectRefused(sealed.flipping(bit), by: envelope, under: key, allowing: others, "bit \(bit)")
        }
        #expect(throws: Never.self) { try envelope.open(sealed) { _ in key } }
    }

    @Test("every bit of the header of a slow derivation counts")
    func everyBitOfSlowDerivations() throws {
        let key = try EnvelopeKey.outside()
        for (provider, derivation) in [
            (Provider.openssl, KeyDerivation.pbkdf2(iterations: 3)),
            (.sodium, .argon2id(passes: 1, memory: 8)),
        ] {
            let tested = TestedCipher(provider: provider, cipher: .chaCha20Poly1305)
            let (envelope, _, sealed) = try Self.sealed(tested, key, 1, derivation)
            let size = try envelope.open(sealed) { _ in key }.header.encoded.count
            for bit in 0..<8 * size {
                // Headers that ask for a lot of work are among the vectors. Skip those that ask for somewhat more:
                // iterations and passes of 65,536 and more, memory of 64 MiB and more.
                if (12..<14).contains(bit / 8) { continue }
                if provider == .sodium, (size - 4..<size - 2).contains(bit / 8) { continue }
                expectRefused(
                    sealed.flipping(bit), by: envelope, under: key,
                    allowing: [Named.version, Named.algorithm, Named.key], "\(provider), bit \(bit)")
            }
        }
    }

    @Test("a value that did not open after a slow derivation is not derived again, and the right value opens")
    func derivedOnce() throws {
        let key = try EnvelopeKey.ofRing()
        let tested = TestedCipher(provider: .openssl, cipher: .chaCha20Poly1305)
        let (envelope, value, sealed) = try Self.sealed(tested, key, 30, .pbkdf2(iterations: 100_000))
        let forged = sealed.flipping(8 * sealed.count - 1)
        func processorTime() -> Int {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return time.tv_sec * 1_000_000_000 + time.tv_nsec
        }
        let times = (0..<2).map { _ in
            let start = processorTime()
            #expect(throws: StorageError.cannotOpen) { try envelope.open(forged) { _ in key } }
            return processorTime() - start
        }
        #expect(times[1] * 10 < times[0], "\(times)")
        #expect(try envelope.open(sealed) { _ in key }.value == value)
    }

    @Test("sampled bits of a value of many chunks count", arguments: TestedCipher.all)
    func bitsOfBodies(_ tested: TestedCipher) throws {
        let key = try EnvelopeKey.ofRing()
        let (envelope, value, sealed) = try Self.sealed(tested, key, 5000)
        for bit in stride(from: 0, to: 8 * sealed.count, by: 397) where !(32..<256).contains(bit) {
            expectRefused(sealed.flipping(bit), by: envelope, under: key, of: value, "bit \(bit)")
        }
    }

    @Test("a value that was truncated anywhere is refused", arguments: TestedCipher.all)
    func everyTruncation(_ tested: TestedCipher) throws {
        let key = try EnvelopeKey.ofRing()
        for size in [0, 40] {
            let (envelope, value, sealed) = try Self.sealed(tested, key, size)
            for count in 0..<sealed.count {
                expectRefused(
                    sealed.prefix(count), by: envelope, under: key, of: value, pieces: [1, 64], "\(count) bytes")
            }
        }
        // Large values, around every boundary of a chunk.
        for size in [2048, 3000, 3072] {
            let (envelope, value, sealed) = try Self.sealed(tested, key, size)
            let header = try envelope.open(sealed) { _ in key }.header.encoded.count
            for edge in stride(from: header, through: sealed.count, by: 1040) {
                for count in (edge - 18)...(edge + 18) where (0..<sealed.count).contains(count) {
                    expectRefused(
                        sealed.prefix(count), by: envelope, under: key, of: value, pieces: [1040], "\(count) bytes")
                }
            }
        }
    }

    @Test("bytes after a value are refused", arguments: TestedCipher.all)
    func appendedBytes(_ tested: TestedCipher) throws {
        let key = try EnvelopeKey.ofRing()
        for size in [0, 1, 1023, 1024, 2048] {
            let (envelope, value, sealed) = try Self.sealed(tested, key, size)
            for count in [1, 15, 16, 17, 1024, 1040, 2000] {
                let longer = sealed + Data(repeating: 0, count: count)
                expectRefused(longer, by: envelope, under: key, of: value, pieces: [3, 1040], "\(count) more")
            }
            expectRefused(sealed + sealed, by: envelope, under: key, of: value)
        }
    }

    @Test(
        "bytes that were never sealed are refused",
        arguments: ["", "d", "dark", "{\"a\":1}", String(repeating: "x", count: 3000), "\u{89}LDE", "\u{1}\u{0}"])
    func plaintext(_ text: String) throws {
        let (envelope, key) = (Envelope(.token, crypto: try Provider.openssl.crypto), try EnvelopeKey.ofRing())
        expectRefused(Data(text.utf8), by: envelope, under: key, pieces: [1, 2, 5000])
        expectRefused(
            Data([0x89, 0x4C, 0x44, 0x45]) + Data(text.utf8), by: envelope, under: key, allowing: [Named.version])
    }

    @Test("another key is reported as another key", arguments: TestedCipher.all)
    func otherKeys(_ tested: TestedCipher) throws {
        let (outside, other) = (try EnvelopeKey.outside("correct horse"), try EnvelopeKey.outside("correct horsf"))
        let (envelope, _, sealed) = try Self.sealed(tested, outside, 30)
        let error = try #require(throws: StorageError.self) { try envelope.open(sealed) { _ in other } }
        #expect(error.code == .cannotOpen)
        #expect(error.message.contains(Named.key))
        expectRefused(sealed, by: envelope, under: other, allowing: [Named.key])
        expectRefused(sealed, by: envelope, under: try .ofRing(), allowing: [Named.key])
        // A ring that has a different key under the same id.
        let (envelope2, _, ofRing) = try Self.sealed(tested, try .ofRing(), 30)
        expectRefused(ofRing, by: envelope2, under: try .ofRing(byte: 8))
    }
}
