import FoundationEssentials
import TestSupport
import Testing

/// What the house's plugins are made with is there for everybody.
@Suite("Products for authors")
struct PublicProductsTests {
    @Test("a transport of the house is built as a stranger's package, and offers what the house's own does")
    func strangersTransport() throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        try workspace.write(Self.manifest, to: "Stranger/Package.swift")
        let sources = "Sources/Backends/FolderSync"
        let files = Repository.files(below: sources) { $0.hasSuffix(".swift") }
        try #require(files.count > 10)
        for file in files {
            // The entry function is in the same target here.
            let text = try Repository.text(file).replacing("internal import FolderSync\n", with: "")
            try workspace.write(text, to: "Stranger/Sources/StrangerSync/\(file.dropFirst(sources.utf8.count + 1))")
        }
        try NestedPackages.build { scratch in
            let built = try workspace.run(
                "swift",
                ["build", "--package-path", "Stranger", "--scratch-path", scratch, "--product", "StrangerSync"])
            try #require(built.status == 0, "\(built.output)\(built.errors)")
            let place = try workspace.run(
                "swift", ["build", "--package-path", "Stranger", "--scratch-path", scratch, "--show-bin-path"])
            let library = "\(place.output.split(separator: "\n").last ?? "")/libStrangerSync.so"
            let inspected = try workspace.host("plugins", "inspect", library)
            #expect(inspected.status == 0 && inspected.output.contains("folder"), "\(inspected.errors)")
            let own = try workspace.host("plugins", "inspect", "\(BuiltProducts.folder)/libFolderSync.so")
            let differ = { (text: String) in text.split(separator: "\n").filter { !$0.contains("/") } }
            #expect(differ(inspected.output) == differ(own.output))
        }
    }

    private static let manifest = """
        // swift-tools-version: 6.3
        import PackageDescription

        let package = Package(
            name: "Stranger",
            products: [.library(name: "StrangerSync", type: .dynamic, targets: ["StrangerSync"])],
            dependencies: [.package(name: "LocalData", path: "\(Repository.root)")],
            targets: [
                .target(
                    name: "StrangerSync",
                    dependencies: [
                        .product(name: "LocalDataPluginAPI", package: "LocalData"),
                        .product(name: "DurableFiles", package: "LocalData"),
                    ],
                    swiftSettings: [
                        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
                        .enableUpcomingFeature("InternalImportsByDefault"),
                        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
                    ])
            ]
        )
        """
}
