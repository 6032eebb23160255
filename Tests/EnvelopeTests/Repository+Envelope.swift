import TestSupport

extension Repository {
    /// The second implementation.
    static let reference = "\(tests)/EnvelopeTests/Reference/envelope.py"
    static let vectors = "\(tests)/EnvelopeTests/Vectors/envelope.json"
    static let specification = "\(root)/Sources/LocalDataAPI/LocalDataAPI.docc/Envelope.md"
}
