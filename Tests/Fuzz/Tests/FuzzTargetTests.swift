import FoundationEssentials
import ReaderExercise
import TestSupport
import Testing

/// Does in seconds what libFuzzer does for hours in `Tests/Fuzz/run`: reads every input of the corpus, and some
/// thousand mutations that are the same in every run.
@Suite("arbitrary bytes, given to the readers of outside input") struct FuzzTargetTests {
    private static func corpus(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
        let folder = "\(Repository.tests)/Fuzz/Corpus/\(target.rawValue)"
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { name in
            (name, Array(try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))))
        }
    }

    private static func run(_ target: FuzzTarget, _ bytes: [UInt8], _ name: @autoclosure () -> String) {
        do { try bytes.withUnsafeBytes { try target.run($0) } } catch {
            Issue.record("\(name()): \(error); input \(Data(bytes).base64EncodedString())")
        }
    }

    @Test("readers keep their promises for every input that fuzzing kept", arguments: FuzzTarget.allCases)
    func corpusIsReplayed(_ target: FuzzTarget) throws {
        let corpus = try Self.corpus(of: target)
        #expect((10..<200).contains(corpus.count))
        for (name, bytes) in corpus { Self.run(target, bytes, name) }
    }

    @Test("readers keep their promises for some thousand mutations", arguments: FuzzTarget.allCases)
    func mutations(_ target: FuzzTarget) throws {
        let inputs = try target.samples() + Self.corpus(of: target).map(\.bytes).filter { $0.count <= 4096 }
        for (index, input) in try target.samples().enumerated() { Self.run(target, input, "sample \(index)") }
        var mutator = Mutator(seed: 0x10CA_1DA7_A000_0003)
        for number in 0..<1500 {
            guard let input = inputs.randomElement(using: &mutator) else { continue }
            Self.run(target, mutator.mutated(input, among: inputs), "mutation \(number)")
        }
    }
}
