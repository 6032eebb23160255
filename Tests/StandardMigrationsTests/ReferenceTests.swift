import FoundationEssentials
import LocalDataHost
import Testing

@testable import MigrationManifest

@Suite("the reference of the manifest") struct ReferenceTests {
    private let article: String

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let path = "Sources/LocalDataAPI/LocalDataAPI.docc/StandardMigrations.md"
        article = try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private func blocks(_ language: String) -> [String] {
        article.split(separator: "\n```\(language)\n").dropFirst()
            .compactMap { $0.split(separator: "\n```", maxSplits: 1).first.map(String.init) }
    }

    @Test("has no manifest that would be refused, and no step that it does not show")
    func manifests() throws {
        let manifests = blocks("json")
        #expect(manifests.count == 6)
        for text in manifests { #expect(try !Manifest(text: text).steps.isEmpty) }
        for kind in ["rename", "move", "prefix", "remove", "default", "reencode", "map", "aggregate"] {
            #expect(manifests.contains { $0.contains("\"\(kind)\": ") }, "\(kind)")
        }
    }

    @Test("has a configuration that is valid")
    func configuration() throws {
        let text = try #require(blocks("json5").first)
        #expect(try HostConfiguration(text: text, source: "StandardMigrations.md").problems().isEmpty)
    }
}
