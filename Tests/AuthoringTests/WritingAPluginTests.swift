import FoundationEssentials
import LocalDataAPI
import LocalDataTesting
import TestSupport
import Testing

@Suite("The article on writing a plugin")
struct WritingAPluginTests {
    private let article: String

    init() throws {
        article = try Repository.text("Sources/LocalDataAPI/LocalDataAPI.docc/WritingAPlugin.md")
    }

    @Test("runs as it is shown, from an empty folder, in Swift and in C")
    func sessionsRun() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        var session = ConsoleSession(article: article)
        // The second build is the store with everything that the article adds, the third the crypto provider, the
        // fourth the sync transport, the fifth the migration pack.
        let builds = session.steps.indices.filter { session.steps[$0].command == "swift build" }
        try #require(builds.count == 5)
        session.insert("link", before: builds[4])
        session.insert("link", before: builds[3])
        session.insert("link", before: builds[2])
        session.insert(
            "cp '\(Repository.tests)/AuthoringTests/Samples/MyStore.swift' Sources/MyStore/", before: builds[1])
        session.insert("link", before: builds[0])
        try NestedPackages.build { scratch in
            session.insert(
                "link() { ln -s '\(scratch)' .build; }; export SWIFTPM_BUILD_DIR='\(scratch)'", before: 0)
            try session.run(in: workspace, places: ["{home}": workspace.home, "{here}": workspace.path])
        }
    }

    @Test("shows only samples that are word for word in compiled code: in the new packages or in a store made from one")
    func samplesAreCompiled() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        #expect(try workspace.host("plugins", "new", "MyStore").status == 0)
        #expect(try workspace.host("plugins", "new", "MyCrypto", "--kind", "crypto").status == 0)
        #expect(try workspace.host("plugins", "new", "MySync", "--kind", "sync").status == 0)
        #expect(try workspace.host("plugins", "new", "MyPack", "--kind", "migration").status == 0)
        let sources = try [
            workspace.text("MyStore/Sources/MyStore/MyStore.swift"),
            workspace.text("MyStore/Sources/MyStore/MyStorePlugin.swift"),
            workspace.text("MyCrypto/Sources/MyCrypto/MyCrypto.swift"),
            workspace.text("MySync/Sources/MySync/MySync.swift"),
            workspace.text("MyPack/Sources/MyPack/MyPack.swift"),
            Repository.text("Tests/AuthoringTests/Samples/MyStore.swift"),
        ]
        let blocks = Article.blocks(of: "swift", in: article)
        #expect(!blocks.isEmpty)
        for block in blocks { #expect(sources.contains { $0.contains(block) }, "not compiled anywhere:\n\(block)") }
        let example = try Repository.text("Examples/CBackend/cbackend.c")
        for block in Article.blocks(of: "c", in: article) {
            #expect(example.contains(block), "not compiled:\n\(block)")
        }
    }

    @Test("replaces only two lines of the new store")
    func sampleIsTheNewStore() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        #expect(try workspace.host("plugins", "new", "MyStore").status == 0)
        let sample = try Repository.text("Tests/AuthoringTests/Samples/MyStore.swift").split(separator: "\n")
        let replaced = try workspace.text("MyStore/Sources/MyStore/MyStore.swift").split(separator: "\n")
            .filter { !sample.contains($0) }.map { $0.trimming(while: { $0 == " " }) }
        #expect(
            replaced == [
                "final class MyStore: EnumerableBackend {",
                #"options: [.path("file", default: "${data}/my-store.plist", help: "where the values are kept")])"#,
            ])
    }

    @Test("ends with a store that keeps its promises, and refuses to open with options that make no sense")
    func sampleConforms() async throws {
        let report = try await StorageConformance.run(MyStore.self)
        #expect(report.failures.isEmpty, "\(report)")
        #expect(throws: StorageError(.invalidOptions)) {
            try MyStore(
                options: ComponentOptions(["file": .string("/tmp/unused.plist"), "capacity": .integer(0)]),
                host: HostServices(name: "test", version: "1"))
        }
    }
}

extension Substring {
    fileprivate func trimming(while isLeading: (Character) -> Bool) -> String { String(drop(while: isLeading)) }
}
