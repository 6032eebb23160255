import Foundation
import PackagePlugin

/// `swift package localdata`: builds what an app does not link, as SwiftPM only builds what its targets use.
@main struct LocalDataCommand: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var extractor = ArgumentExtractor(arguments)
        let known = KnownPlugins(context.package)
        if extractor.extractFlag(named: "help") > 0 || arguments.isEmpty || arguments == ["-h"] {
            return print(Self.help(known))
        }
        let options = try BundleOptions(&extractor, known)
        switch options.verb {
        case "plugins": try putBeside(options)
        case "bundle": try Bundle(context, packageManager, options, known).make()
        default: throw CommandFailure("'\(options.verb)' is not a command; expected plugins or bundle")
        }
    }

    /// Builds plugins where the package's executables are built, too.
    private func putBeside(_ options: BundleOptions) throws {
        for plugin in options.plugins {
            let file = try packageManager.artifact(of: plugin, .dynamicLibrary, options.parameters)
            print(file.path(percentEncoded: false))
        }
    }

    private static func help(_ known: KnownPlugins) -> String {
        """
        swift package localdata plugins [--plugins A,B] [--configuration debug|release]
            Builds plugins beside the package's executables, where swift run finds them.
        swift package localdata bundle --to DIR [--product NAME]... [--plugins A,B]
            Makes a folder that runs on other machines: bin with the executables, lib/localdata/plugins, and
            lib/localdata/runtime with Swift's runtime and all other libraries but glibc's. DIR must be new or empty, or
            an earlier bundle, which is replaced; a folder with any other file in it is refused. The other machine needs
            this glibc or a later one.

        Plugins are \(known.all.joined(separator: ", ")).
        Without --plugins: \(known.defaults.joined(separator: ", ")).
        """
    }
}

struct CommandFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension PackageManager {
    /// Builds a product.
    ///
    /// - Throws: What the build said, if it failed.
    func artifact(
        of product: String, _ kind: BuildResult.BuiltArtifact.Kind, _ parameters: BuildParameters
    ) throws -> URL {
        let result = try build(.product(product), parameters: parameters)
        let files = result.builtArtifacts.filter { $0.kind == kind }.map(\.url)
        let isLibrary = kind == .dynamicLibrary
        let file = files.first { $0.lastPathComponent == (isLibrary ? "lib\(product).so" : product) }
        guard result.succeeded, let file else {
            print(result.logText)
            let hint = isLibrary ? "; it may need a -dev package, which the log names" : ""
            throw CommandFailure("'\(product)' could not be built: see above\(hint)")
        }
        return file
    }
}
