import FoundationEssentials

/// This repository's files.
enum Repository {
    /// The root, found from this file's own place.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path(percentEncoded: false)

    static func text(_ path: String) throws -> String {
        try String(contentsOf: URL(filePath: "\(root)/\(path)"), encoding: .utf8)
    }
}

extension Repository {
    /// The files below a folder that meet a condition, sorted, without those of builds.
    static func files(below folder: String, where isWanted: (String) -> Bool) -> [String] {
        let all = (try? FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)")) ?? []
        return all.map { "\(folder)/\($0)" }.filter { !$0.contains("/.build/") && isWanted($0) }.sorted()
    }
}
