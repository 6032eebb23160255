internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost

/// A folder with LocalData's own package, which a new Swift package depends on.
struct Checkout: Sendable {
    /// The real path.
    let path: String
    /// Whether the package has the conformance kit.
    let hasKit: Bool

    /// A folder that was named.
    init(at path: String) throws(StorageError) {
        guard let checkout = Checkout(ifAt: path) else {
            throw StorageError(
                .fileError, "'\(path)' is not LocalData's package: it has no Package.swift that names LocalData",
                hint: "give the folder of LocalData's source: --localdata PATH")
        }
        self = checkout
    }

    private init?(ifAt path: String) {
        guard let manifest = try? String(contentsOf: URL(filePath: "\(path)/Package.swift"), encoding: .utf8),
            manifest.contains(#"name: "LocalData","#), let real = realpath(path, nil)
        else { return nil }
        defer { free(real) }
        self.path = String(cString: real)
        hasKit = manifest.contains(#".library(name: "LocalDataTesting""#)
    }

    /// The package that the running program was built in.
    static func running() throws(StorageError) -> Checkout {
        var folder = Substring(PluginSearchPath.executable ?? "")
        while let slash = folder.lastIndex(of: "/"), slash != folder.startIndex {
            folder = folder[..<slash]
            if let checkout = Checkout(ifAt: String(folder)) { return checkout }
        }
        throw StorageError(
            .fileError, "LocalData's source is not found: this ld-host does not lie in it",
            hint: "give its folder: --localdata PATH; or write the plugin in C: --language c")
    }
}
