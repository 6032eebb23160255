import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@testable import MigrationManifest

@Suite("the reference of the manifest") struct ReferenceTests {
    private let article: String

    init() throws {
        article = try Self.text("Sources/LocalDataAPI/LocalDataAPI.docc/StandardMigrations.md")
    }

    private static func text(_ path: String) throws -> String {
        try Repository.text(path)
    }

    private static func blocks(_ language: String, in text: String) -> [String] {
        text.split(separator: "\n```\(language)\n").dropFirst()
            .compactMap { $0.split(separator: "\n```", maxSplits: 1).first.map(String.init) }
    }

    private func blocks(_ language: String) -> [String] { Self.blocks(language, in: article) }

    @Test("has only valid manifests, and shows every step")
    func manifests() throws {
        let manifests = blocks("json")
        for text in manifests { #expect(try !Manifest(text: text).steps.isEmpty) }
        for kind in ["rename", "move", "prefix", "remove", "default", "reencode", "map", "aggregate"] {
            #expect(manifests.contains { $0.contains("\"\(kind)\": ") }, "\(kind)")
        }
    }

    @Test(
        "has valid configurations, and so has the guide to operating",
        arguments: [
            "Sources/LocalDataAPI/LocalDataAPI.docc/StandardMigrations.md",
            "Sources/ld-host/Host/LocalDataHost.docc/Operating.md",
        ])
    func configuration(_ name: String) throws {
        let text = try Self.blocks("json5", in: Self.text(name)).first
        let configuration = try HostConfiguration(text: try #require(text), source: name)
        #expect(configuration.problems().isEmpty)
        guard case .list(let steps) = try configuration.settings().packs.first?.options["manifest"] else {
            Issue.record("no manifest")
            return
        }
        #expect(try !Manifest(steps).steps.isEmpty)
    }
}
