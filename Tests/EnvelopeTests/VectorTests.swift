import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import HostSealing
@testable import LocalDataHost

@Suite("The envelope's test vectors")
struct VectorTests {
    private static let vectors = Vectors.all?.vectors ?? []
    private static let refused = Vectors.all?.refused ?? []

    @Test("there are vectors for every cipher and derivation, and every one is for some provider")
    func coverage() throws {
        #expect(Self.vectors.count > 80)
        #expect(Self.refused.count > 70)
        let kinds = Set(Self.vectors.map { "\($0.cipher) \($0.derivation.function)" })
        #expect(kinds.count == 9)
        let providers = try Provider.allCases.map { try $0.crypto }
        for vector in Self.vectors where vector.cipher != "\(AuthenticatedCipher.xChaCha20Poly1305)" {
            #expect(try providers.contains { try vector.isOffered(by: $0) }, "\(vector.name)")
        }
    }

    @Test(
        "a vector opens, and sealing with its salt gives the same bytes", arguments: vectors, Provider.allCases)
    func everyVector(_ vector: Vectors.Vector, _ provider: Provider) throws {
        let crypto = try provider.crypto
        guard try vector.isOffered(by: crypto) else { return }
        let (header, recordKey, made) = try vector.seal(crypto)
        #expect(header.encoded.hex == vector.header)
        #expect("\(header.keyID)" == vector.keyID)
        #expect(recordKey.hex == vector.recordKey)
        if let sealed = vector.sealed { #expect(made.hex == sealed) }
        // The file omits its bytes, so compare the digest, which the second implementation computes.
        let envelope = Envelope(vector.address.address, crypto: crypto)
        let key = try vector.envelopeKey
        for way in [Way.whole, .pieces(777)] {
            let opened = try envelope.open(made, way, under: key)
            #expect(opened.value == (try vector.plaintext))
            #expect(opened.header.attributes == vector.valueAttributes)
            #expect(opened.header.ring == vector.ring)
            #expect(opened.header == header)
        }
    }

    @Test("bytes that must be refused are refused at once", arguments: refused, Provider.allCases)
    func everyRefusal(_ vector: Vectors.Refused, _ provider: Provider) throws {
        let envelope = Envelope(vector.address.address, crypto: try provider.crypto)
        let key = try EnvelopeKey(material: vector.material, id: vector.ringKeyID)
        let sealed = try #require(Data(hex: vector.sealed))
        let start = SuspendingClock.now
        // The two vectors that have full chunks before the fault.
        expectRefused(
            sealed, by: envelope, under: key, of: .pattern(1024),
            allowing: vector.name.hasPrefix("version ") ? [Named.version] : [], pieces: [1, 1024, 5000])
        // The derivation that one of the hostile headers asks for would take minutes.
        #expect(SuspendingClock.now - start < .seconds(20))
    }

    @Test("a second implementation opens values that this one seals, and makes the same vectors")
    func secondImplementation() throws {
        var document = try #require(Vectors.all)
        let entire = document.vectors
        for provider in Provider.allCases {
            let crypto = try provider.crypto
            document.vectors = try entire.filter { try $0.sealed != nil && $0.isOffered(by: crypto) }.map { vector in
                var vector = vector
                let style = EnvelopeStyle(try vector.knownCipher, try vector.style, chunkExponent: vector.chunkExponent)
                let sealed = try Envelope(vector.address.address, crypto: crypto).seal(
                    try vector.plaintext, under: vector.envelopeKey, as: style, attributes: vector.valueAttributes)
                vector.sealed = sealed.hex
                return vector
            }
            let answer = try Self.open(document)
            #expect(answer == "\(document.vectors.count) to open, \(document.refused.count) to refuse, 0 not so\n")
        }
        // The large values, with their own salts, so that the digests of all bytes are compared.
        document.vectors = try entire.filter { $0.sealed == nil }.compactMap { vector in
            guard
                let crypto = try Provider.allCases.map({ try $0.crypto }).first(where: { try vector.isOffered(by: $0) })
            else { return nil }
            var vector = vector
            vector.sealed = try vector.seal(crypto).sealed.hex
            return vector
        }
        #expect(
            try Self.open(document)
                == "\(document.vectors.count) to open, \(document.refused.count) to refuse, 0 not so\n")
    }

    @Test("the second implementation reports errors")
    func notSo() throws {
        var document = try #require(Vectors.all)
        document.vectors = [try #require(document.vectors.first { $0.value == "00" })]
        document.refused = []
        document.vectors[0].value = "01"
        document.vectors.append(document.vectors[0])
        document.vectors[1].sealed?.removeLast(2)
        #expect(try Self.open(document).hasSuffix("2 to open, 0 to refuse, 2 not so\n"))
    }

    /// The second implementation's output for a document.
    private static func open(_ document: Vectors) throws -> String {
        let bytes = Array(try JSONEncoder().encode(document))
        let program = ChildProcess(
            "/bin/sh", arguments: ["-c", "exec python3 \"$0\" open /dev/stdin", Repository.reference],
            environment: ["PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1"],
            input: bytes)
        let completion = try program.run(deadline: .seconds(300))
        #expect(completion.errorText.isEmpty)
        return String(decoding: completion.output, as: UTF8.self)
    }
}

extension Vectors.Vector {
    /// The style whose derivation has the vector's parameters.
    var style: KeyDerivation {
        get throws {
            switch try knownDerivation {
            case .hkdf(let salt, let info): .hkdf(salt: salt, info: info)
            case .pbkdf2(let iterations, let salt): .pbkdf2(iterations: iterations, salt: salt)
            case .argon2id(let passes, let memory, _): .argon2id(passes: passes, memory: memory)
            }
        }
    }
}
