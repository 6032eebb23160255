import FoundationEssentials
import LocalDataAPI
import ReaderExercise
import TestSupport
import Testing

@testable import HostGround
@testable import HostSealing
@testable import LocalDataHost

@Suite("Arbitrary bytes, given to the readers of envelopes")
struct ExerciseTests {
    private static let folder = "\(Repository.root)/Tests/Fuzz/Corpus/envelope"

    /// The inputs that the fuzzer kept.
    private static func corpus() throws -> [(name: String, bytes: Data)] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { name in
            (name, try Data(contentsOf: URL(filePath: "\(folder)/\(name)")))
        }
    }

    private static func run(_ exercise: EnvelopeExercise, _ bytes: Data, _ name: String) {
        do { try bytes.withUnsafeBytes { try exercise.run($0) } } catch { Issue.record("\(name): \(error)") }
    }

    @Test("readers keep their promises for all inputs that the fuzzer kept")
    func corpusIsReplayed() throws {
        let (exercise, corpus) = (try EnvelopeExercise.withGuessableTags(), try Self.corpus())
        #expect((50..<200).contains(corpus.count))
        for (name, bytes) in corpus { Self.run(exercise, bytes, name) }
        // A corpus that never gets past the header would test little.
        let guessable = try EnvelopeExercise.guessableProvider()
        let material = try SecretBytes.repeating(7)
        let opened = corpus.count { _, bytes in
            let envelope = Envelope(EnvelopeExercise.address, crypto: guessable)
            return (try? envelope.open(bytes) { EnvelopeKey(material, id: $0.keyID) }) != nil
        }
        #expect(opened > 10)
    }

    @Test("none of them opens with real ciphers", arguments: Provider.allCases)
    func realCiphers(_ provider: Provider) throws {
        let crypto = try provider.crypto
        let (exercise, material) = (try EnvelopeExercise(crypto), try SecretBytes.repeating(7))
        for (name, bytes) in try Self.corpus() {
            // Some headers request slow derivations; other tests cover their cost.
            let header = bytes.withUnsafeBytes { try? EnvelopeHeader(parsing: $0) }
            if let header, header.derivation.isSlow || !crypto.offers(header.cipher) { continue }
            Self.run(exercise, bytes, name)
            #expect(throws: StorageError.cannotOpen, "\(name)") {
                try Envelope(EnvelopeExercise.address, crypto: crypto).open(bytes) {
                    EnvelopeKey(material, id: $0.keyID)
                }
            }
        }
    }

    @Test("readers keep their promises for every vector, cut in many places")
    func vectors() throws {
        let exercise = try EnvelopeExercise.withGuessableTags()
        let document = try #require(Vectors.all)
        let all = document.vectors.compactMap(\.sealed) + document.refused.map(\.sealed)
        for hex in all where hex.count < 300 {
            let bytes = try #require(Data(hex: hex))
            for count in stride(from: bytes.count, through: 0, by: -13) {
                Self.run(exercise, bytes.prefix(count), "\(hex) cut to \(count)")
            }
        }
    }
}
