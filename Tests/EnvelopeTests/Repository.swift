import FoundationEssentials

/// Where these tests find what they use.
enum Repository {
    /// The folder of the built libraries: that of this test bundle.
    static let products: String = {
        // The bundle is a library of the program that runs the tests; the kernel knows where it was loaded from.
        let maps = (try? String(contentsOf: URL(filePath: "/proc/self/maps"), encoding: .utf8)) ?? ""
        let bundle = maps.split(separator: "\n").first { $0.hasSuffix(".xctest") }.flatMap {
            $0.split(separator: " ").last
        }
        return URL(filePath: bundle.map(String.init) ?? "/").deletingLastPathComponent().path(percentEncoded: false)
    }()

    /// The package's folder.
    static let root: String = {
        var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        parts.removeLast(3)
        return parts.joined(separator: "/")
    }()

    /// The second implementation.
    static let reference = "\(root)/Tests/EnvelopeTests/Reference/envelope.py"
    static let vectors = "\(root)/Tests/EnvelopeTests/Vectors/envelope.json"
    static let specification = "\(root)/Sources/LocalDataAPI/LocalDataAPI.docc/Envelope.md"
}
