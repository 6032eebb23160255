import Foundation
import PackagePlugin

/// Puts what `ld-host plugins new` writes into the program, word for word: the C header and the example of each kind of
/// plugin in each language. The program is installed as one file, so it cannot read them.
@main struct EmbedTexts: BuildToolPlugin {
    private static let header = "Sources/LocalDataAPI/CLocalData/include/localdata/plugin.h"
    /// The examples' names, each with its files; what was built in their folders is not part of them.
    private static let examples = [
        ("CBackend", files(inC: "cbackend")), ("CCrypto", files(inC: "ccrypto")),
        ("CMigration", files(inC: "cmigration")), ("CSync", files(inC: "csync")),
        ("SwiftBackend", files(inSwift: "SwiftBackend")),
        (
            "SwiftCrypto",
            files(inSwift: "SwiftCrypto") + ["Sources/CLibSodium/module.modulemap", "Sources/CLibSodium/shim.h"]
        ),
        ("SwiftMigration", files(inSwift: "SwiftMigration")), ("SwiftSync", files(inSwift: "SwiftSync")),
    ]

    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedText.swift")
        let paths = [Self.header] + Self.examples.flatMap { name, files in files.map { "Examples/\(name)/\($0)" } }
        let root = context.package.directoryURL
        return [
            .buildCommand(
                displayName: "Embedding the C header and the examples",
                executable: try context.tool(named: "embed-text").url,
                arguments: [output, root].map { $0.path(percentEncoded: false) } + paths,
                inputFiles: paths.map { root.appending(path: $0) }, outputFiles: [output])
        ]
    }

    private static func files(inC file: String) -> [String] {
        ["\(file).c", "test.c", "Makefile", "README.md", ".gitignore"]
    }

    private static func files(inSwift name: String) -> [String] {
        [
            "Package.swift", "README.md", ".gitignore", "Sources/\(name)/\(name).swift",
            "Sources/\(name)/\(name)Plugin.swift", "Tests/\(name)Tests/\(name)Tests.swift",
        ]
    }
}
