import FoundationEssentials

/// This repository's files, and what is built from them.
enum Repository {
    /// The root, found from this file's own place.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path(percentEncoded: false)

    static func text(_ path: String) throws -> String {
        try String(contentsOf: URL(filePath: "\(root)/\(path)"), encoding: .utf8)
    }
}
