internal import HostPlugins
internal import LocalDataAPI

/// The outcomes of the vectors of one file.
package struct VectorReport: Encodable, Sendable {
    /// A vector with an unexpected result.
    package struct Failure: Encodable, Sendable {
        package let tcId: Int
        package let comment: String
        package let reason: String
    }

    /// Vectors that were not computed.
    package struct Skipped: Encodable, Sendable {
        package let reason: String
        package let count: Int
    }

    package let file: String
    package private(set) var passed = 0
    package private(set) var failures: [Failure] = []
    /// By reason, in the order of the file.
    package private(set) var skips: [Skipped] = []

    package var failed: Int { failures.count }
    package var skipped: Int { skips.reduce(0) { $0 + $1.count } }

    init(file: String) { self.file = file }

    mutating func take(_ outcome: VectorOutcome, of vector: VectorFile.Vector) {
        switch outcome {
        case .passed: passed += 1
        case .failed(let reason):
            failures.append(Failure(tcId: vector.id, comment: vector.comment, reason: reason))
        case .skipped(let reason):
            let index = skips.firstIndex { $0.reason == reason } ?? skips.endIndex
            let count = index < skips.endIndex ? skips[index].count : 0
            skips.replaceSubrange(
                index..<min(index + 1, skips.endIndex), with: [Skipped(reason: reason, count: count + 1)])
        }
    }

    private enum CodingKeys: String, CodingKey {
        case file
        case passed
        case failed
        case skipped
        case failures
        case skips
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(file, forKey: .file)
        try container.encode(passed, forKey: .passed)
        try container.encode(failed, forKey: .failed)
        try container.encode(skipped, forKey: .skipped)
        try container.encode(failures, forKey: .failures)
        try container.encode(skips, forKey: .skips)
    }
}
