import FoundationEssentials

/// The files of the package from which the tests were built.
package enum Repository {
    /// The folder that holds `Package.swift`.
    package static let root: String = {
        var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        parts.removeLast(3)
        return parts.joined(separator: "/")
    }()

    /// The folder of the tests.
    package static let tests = "\(root)/Tests"

    /// The folder of the C header that plugins are built against.
    package static let header = "\(root)/Sources/LocalDataAPI/CLocalData/include"

    /// The content of a text file.
    ///
    /// - Parameter path: The path relative to the root.
    package static func text(_ path: String) throws -> String {
        try String(contentsOf: URL(filePath: "\(root)/\(path)"), encoding: .utf8)
    }

    /// The files below a folder that meet a condition, sorted, without build products.
    ///
    /// - Parameter folder: Relative to the root, like the returned paths.
    package static func files(below folder: String, where isWanted: (String) -> Bool) -> [String] {
        let all = (try? FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)")) ?? []
        return all.map { "\(folder)/\($0)" }.filter { !$0.contains("/.build/") && isWanted($0) }.sorted()
    }
}
