internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost

/// Where a new Swift package has LocalData's own package from.
enum PackageSource: Sendable {
    /// A folder, by its path.
    case folder(String)
    /// A repository, by its URL: its release of this version.
    case repository(String)

    /// The named source: a URL or a folder.
    init(_ text: String) throws(StorageError) {
        if text.contains("://") || text.hasPrefix("git@") {
            self = .repository(text)
            return
        }
        guard let source = PackageSource(ifFolder: text) else {
            throw StorageError(
                .fileError, "'\(text)' is not LocalData's package: it has no Package.swift that names LocalData",
                hint: "give the folder of LocalData's source, or the URL of its repository: --localdata SOURCE")
        }
        self = source
    }

    private init?(ifFolder path: String) {
        guard let manifest = try? String(contentsOf: URL(filePath: "\(path)/Package.swift"), encoding: .utf8),
            manifest.contains(#"name: "LocalData","#), let real = realpath(path, nil)
        else { return nil }
        defer { free(real) }
        self = .folder(String(cString: real))
    }

    /// The package that the running program was built in.
    static func running() throws(StorageError) -> PackageSource {
        var folder = Substring(PluginSearchPath.executable ?? "")
        while let slash = folder.lastIndex(of: "/"), slash != folder.startIndex {
            folder = folder[..<slash]
            if let source = PackageSource(ifFolder: String(folder)) { return source }
        }
        throw StorageError(
            .fileError, "LocalData's source is not found: this ld-host does not lie in it",
            hint: "name its folder or the URL of its repository: --localdata SOURCE; or write the plugin in C: "
                + "--language c")
    }

    /// The line of a manifest, with the comment above it if it has one, as it stands in `Package(...)`.
    var dependency: String {
        switch self {
        case .repository(let url):
            "dependencies: [.package(url: \(Self.literal(url)), from: \"\(HostVersion.current)\")],"
        case .folder(let path):
            """
            // This folder is on your machine. Before you publish the package, depend on LocalData's repository:
                // .package(url: "https://example.com/LocalData.git", from: "\(HostVersion.current)")
                dependencies: [.package(name: "LocalData", path: \(Self.literal(path)))],
            """
        }
    }

    /// The name that targets have the package by: that of a repository is the last part of its URL.
    var identity: String {
        guard case .repository(let url) = self else { return "LocalData" }
        let last = url.split(separator: "/").last?.split(separator: ":").last.map(String.init) ?? url
        return last.hasSuffix(".git") ? String(last.dropLast(4)) : last
    }

    /// What a README says of giving the package to others; nothing where that needs no change.
    var publishing: String {
        guard case .folder = self else { return "" }
        return """

            `Package.swift` depends on LocalData in a folder of this machine. Before you publish the package, have it depend on
            LocalData's repository, by the line that stands beside it there.

            """
    }

    private static func literal(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return "\"\(escaped)\""
    }
}
