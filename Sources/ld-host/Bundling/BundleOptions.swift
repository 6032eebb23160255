import Foundation
import PackagePlugin

/// What a call asks for.
struct BundleOptions {
    /// The plugins of LocalData, sorted: its dynamic libraries.
    ///
    /// - Parameter package: The package for which the command runs. It may be LocalData itself, or need it by way of
    ///   another one.
    static func known(to package: Package) -> [String] {
        var (packages, seen) = ([package], Set<Package.ID>())
        while let next = packages.popLast() {
            guard seen.insert(next.id).inserted else { continue }
            let libraries = next.products(ofType: LibraryProduct.self)
            if libraries.contains(where: { $0.name == "LocalDataAPI" }) {
                return libraries.filter { $0.kind == .dynamic }.map(\.name).sorted()
            }
            packages += next.dependencies.map(\.package)
        }
        return []
    }

    /// What the built-in defaults use, and what needs no library.
    static let defaultPlugins = ["SQLiteStore", "OpenSSLCrypto", "StandardMigrations"]

    let verb: String
    let plugins: [String]
    let products: [String]
    let folder: String?
    private let configuration: PackageManager.BuildConfiguration

    /// - Parameter known: The plugins that there are.
    /// - Throws: What is wrong with the arguments.
    init(_ arguments: inout ArgumentExtractor, known: [String]) throws {
        let lists = arguments.extractOption(named: "plugins")
        products = arguments.extractOption(named: "product")
        let folders = arguments.extractOption(named: "to")
        let configurations = arguments.extractOption(named: "configuration")
        let rest = arguments.remainingArguments
        verb = rest.first ?? ""
        guard rest.count == 1 else {
            throw CommandFailure("expected one command, plugins or bundle; found \(rest.isEmpty ? "none" : "\(rest)")")
        }
        plugins = lists.isEmpty ? Self.defaultPlugins : lists.flatMap { $0.split(separator: ",").map(String.init) }
        for plugin in plugins where !known.contains(plugin) {
            throw CommandFailure("there is no plugin '\(plugin)'; expected \(known.joined(separator: ", "))")
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
