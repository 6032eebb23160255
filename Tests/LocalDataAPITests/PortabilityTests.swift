import FoundationEssentials
import TestSupport
import Testing

/// The sources of LocalDataAPI must compile on other systems. No such compiler is available here, so the tests search
/// the sources.
@Suite("The API's sources on other systems")
struct PortabilityTests {
    /// The folders of other targets.
    private static let others = ["CLinux", "CLocalData", "CChecksum", "DurableFiles", "ServerAccess"]

    /// The API's files, and the text of each.
    private static func sources() throws -> [(path: String, text: String)] {
        let root = "\(Repository.root)/Sources/LocalDataAPI"
        return try FileManager.default.subpathsOfDirectory(atPath: root).compactMap { path in
            let folder = path.split(separator: "/").first.map(String.init) ?? ""
            guard path.hasSuffix(".swift"), !Self.others.contains(folder) else { return nil }
            return (path, try String(contentsOf: URL(filePath: "\(root)/\(path)"), encoding: .utf8))
        }
    }

    @Test("Linux's own modules are imported only on Linux, and no interface shows the C library")
    func imports() throws {
        let sources = try Self.sources()
        #expect(sources.count > 60)
        for (path, text) in sources {
            var conditions: [Substring] = []
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                switch words.first {
                case "#if": conditions.append(line.dropFirst(4))
                case "#else", "#elseif": conditions[conditions.count - 1] = ""
                case "#endif": conditions.removeLast()
                default: break
                }
                guard let module = words.last, words.dropLast().last == "import" else { continue }
                #expect(module != "CLinux", "\(path)")
                guard ["Glibc", "FoundationEssentials"].contains(module) else { continue }
                #expect(conditions.contains("canImport(\(module))"), "\(path) imports \(module) everywhere")
                #expect(module != "Glibc" || words.first == "internal", "\(path) shows the C library")
            }
        }
    }
}
