import Foundation
import PackagePlugin

/// Puts what `ld-host plugins new --language c` writes into the program, word for word: the C header and the examples
/// in C. It is installed as one file, so it cannot read them.
@main struct EmbedTexts: BuildToolPlugin {
    private static let texts = [
        "header": "Sources/LocalDataAPI/CLocalData/include/localdata/plugin.h",
        "cStore": "Examples/CBackend/cbackend.c",
        "cTest": "Examples/CBackend/test.c",
        "cMakefile": "Examples/CBackend/Makefile",
        "cIgnored": "Examples/CBackend/.gitignore",
        "cCrypto": "Examples/CCrypto/ccrypto.c",
        "cCryptoTest": "Examples/CCrypto/test.c",
        "cCryptoMakefile": "Examples/CCrypto/Makefile",
        "cCryptoIgnored": "Examples/CCrypto/.gitignore",
        "cSync": "Examples/CSync/csync.c",
        "cSyncTest": "Examples/CSync/test.c",
        "cSyncMakefile": "Examples/CSync/Makefile",
        "cSyncIgnored": "Examples/CSync/.gitignore",
        "cMigration": "Examples/CMigration/cmigration.c",
        "cMigrationTest": "Examples/CMigration/test.c",
        "cMigrationMakefile": "Examples/CMigration/Makefile",
        "cMigrationIgnored": "Examples/CMigration/.gitignore",
    ]

    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedText.swift")
        let texts = Self.texts.sorted { $0.key < $1.key }.map { text in
            (name: text.key, file: context.package.directoryURL.appending(path: text.value))
        }
        return [
            .buildCommand(
                displayName: "Embedding the C header and examples",
                executable: try context.tool(named: "embed-text").url,
                arguments: [output.path()] + texts.flatMap { [$0.name, $0.file.path()] },
                inputFiles: texts.map(\.file), outputFiles: [output])
        ]
    }
}
