import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostPlugins
@testable import HostSealing
@testable import LocalDataHost

@Suite("Sealed values whose parts belong elsewhere")
struct SwappingTests {
    private static func address(_ domain: String, _ scope: String, _ name: String) -> StorageAddress {
        StorageAddress(StorageNamespace(domain: domain, scope: scope), name: name)
    }

    /// Addresses that are easily confused.
    private static let addresses = [
        address("ab", "c", "d"), address("a", "bc", "d"), address("a", "b", "cd"), address("abc", "", "d"),
        address("ab", "cd", ""), address("", "abc", "d"), address("ab", "c", "D"), address("ab", "c", "d "),
        address("ab", "c", "caf\u{E9}"), address("ab", "c", "cafe\u{301}"), address("a", "b\u{0}\u{0}\u{0}\u{1}c", "d"),
    ]

    @Test("a value opens only at its own address", arguments: TestedCipher.all)
    func everyAddress(_ tested: TestedCipher) throws {
        let key = try EnvelopeKey.ofRing()
        let sealed = try Self.addresses.map {
            try tested.envelope($0).seal(Data("dark".utf8), under: key, as: EnvelopeStyle(tested.cipher))
        }
        for (reader, address) in Self.addresses.enumerated() {
            let envelope = try tested.envelope(address)
            for (writer, sealed) in sealed.enumerated() where writer != reader {
                expectRefused(sealed, by: envelope, under: key, "sealed for \(writer), opened for \(reader)")
            }
            #expect(try envelope.open(sealed[reader]) { _ in key }.value == Data("dark".utf8))
        }
    }

    @Test("the folder that a store may keep an address in does not count")
    func directories() throws {
        let (crypto, key) = (try Provider.openssl.crypto, try EnvelopeKey.ofRing())
        let here = StorageAddress(StorageNamespace(domain: "a", scope: "b", directory: "/here"), name: "c")
        let there = StorageAddress(StorageNamespace(domain: "a", scope: "b", directory: "/there"), name: "c")
        let sealed = try Envelope(here, crypto: crypto).seal(
            Data("dark".utf8), under: key, as: EnvelopeStyle(.chaCha20Poly1305))
        #expect(try Envelope(there, crypto: crypto).open(sealed) { _ in key }.value == Data("dark".utf8))
    }

    /// Two values of one address and key, split into header and chunks.
    private static func parts(_ tested: TestedCipher, _ key: EnvelopeKey, _ size: Int) throws -> [[Data]] {
        let envelope = try tested.envelope()
        return try (0..<2).map { _ in
            let sealed = try envelope.seal(.pattern(size), under: key, as: tested.smallChunks)
            let edges = [0] + Array(stride(from: 64, to: sealed.count, by: 1040)) + [sealed.count]
            return zip(edges, edges.dropFirst()).map { sealed[$0..<$1] }
        }
    }

    @Test("chunks open only in their own order", arguments: TestedCipher.all)
    func everyPairOfChunks(_ tested: TestedCipher) throws {
        let (envelope, key) = (try tested.envelope(), try EnvelopeKey.ofRing())
        let value = Data.pattern(5000)
        let parts = try Self.parts(tested, key, 5000)[0]
        #expect(parts.count == 6)
        for first in 1..<parts.count {
            for second in 1..<parts.count {
                var changed = parts
                if first < second {
                    changed.swapAt(first, second)
                } else if first == second {
                    changed.remove(at: first)
                } else {
                    changed.insert(parts[first], at: second)
                }
                expectRefused(
                    Data(changed.joined()), by: envelope, under: key, of: value, pieces: [1040, 999],
                    "\(first) and \(second)")
            }
        }
    }

    @Test("headers and chunks of another record of the same address and key are refused", arguments: TestedCipher.all)
    func otherRecords(_ tested: TestedCipher) throws {
        let (envelope, key) = (try tested.envelope(), try EnvelopeKey.ofRing())
        let value = Data.pattern(3000)
        let parts = try Self.parts(tested, key, 3000)
        // Leaves out the choice of all parts of one record, header included: that is a whole record, which opens.
        for choice in 1..<(1 << parts[0].count) - 1 {
            let mixed = (0..<parts[0].count).map { parts[choice >> $0 & 1][$0] }
            expectRefused(Data(mixed.joined()), by: envelope, under: key, of: value, "\(choice)")
        }
    }

    @Test("an older record of the same address opens: a rollback is not noticed, as the specification says")
    func olderRecord() throws {
        let (envelope, key) = (Envelope(.token, crypto: try Provider.openssl.crypto), try EnvelopeKey.ofRing())
        let style = EnvelopeStyle(.chaCha20Poly1305)
        let old = try envelope.seal(Data("old".utf8), under: key, as: style)
        _ = try envelope.seal(Data("new".utf8), under: key, as: style)
        #expect(try envelope.open(old) { _ in key }.value == Data("old".utf8))
    }

    @Test("a header does not choose another cipher for the same key")
    func otherCipher() throws {
        let (crypto, key) = (try Provider.openssl.crypto, try EnvelopeKey.ofRing())
        let salt = Data(repeating: 1, count: 32)
        let keys = try [AuthenticatedCipher.aes256GCM, .chaCha20Poly1305, .xChaCha20Poly1305].map {
            Self.copy(try RecordKey(key, .hkdf(), salt: salt, for: $0, crypto))
        }
        #expect(Set(keys).count == 3)
    }

    /// The bytes of a record's key, whose memory is cleared with it, and so not before this returns.
    private static func copy(_ record: borrowing RecordKey) -> Data { Data(record.bytes) }
}
