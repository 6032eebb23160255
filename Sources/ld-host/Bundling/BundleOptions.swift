import Foundation
import PackagePlugin

/// What a call asks for.
struct BundleOptions {
    let verb: String
    let plugins: [String]
    let products: [String]
    let folder: String?
    private let configuration: PackageManager.BuildConfiguration

    /// - Throws: What is wrong with the arguments.
    init(_ arguments: inout ArgumentExtractor, _ known: KnownPlugins) throws {
        let lists = arguments.extractOption(named: "plugins")
        products = arguments.extractOption(named: "product")
        let folders = arguments.extractOption(named: "to")
        let configurations = arguments.extractOption(named: "configuration")
        let rest = arguments.remainingArguments
        verb = rest.first ?? ""
        guard rest.count == 1 else {
            throw CommandFailure("expected one command, plugins or bundle; found \(rest.isEmpty ? "none" : "\(rest)")")
        }
        plugins = lists.isEmpty ? known.defaults : lists.flatMap { $0.split(separator: ",").map(String.init) }
        for plugin in plugins where !known.all.contains(plugin) {
            throw CommandFailure("there is no plugin '\(plugin)'; expected \(known.all.joined(separator: ", "))")
        }
        guard folders.count <= 1, configurations.count <= 1 else {
            throw CommandFailure("--to and --configuration can be given only once")
        }
        folder = folders.first
        switch configurations.first ?? (verb == "bundle" ? "release" : "debug") {
        case "debug": configuration = .debug
        case "release": configuration = .release
        case let other: throw CommandFailure("'\(other)' is no configuration; expected debug or release")
        }
    }

    var parameters: PackageManager.BuildParameters {
        PackageManager.BuildParameters(configuration: configuration, logging: .concise)
    }
}
