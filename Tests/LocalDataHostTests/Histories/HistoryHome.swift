import FoundationEssentials
import Glibc
import LocalDataAPI
import Synchronization
import TestSupport

@testable import HostGround
@testable import HostPlugins
@testable import LocalDataHost

/// The folder of a user on one machine. Each router represents a start of a program.
final class HistoryHome: Sendable {
    private let folder: TemporaryFolder
    private let usesDatabase: Bool
    /// The folder through which devices sync; `nil` without sync.
    private let shared: String?

    /// The plugins that all histories share: each is loaded once in this process.
    private static let plugins = Result { () throws(StorageError) in
        var images: [PluginImage] = []
        for name in ["FileStore", "SQLiteStore", "OpenSSLCrypto", "FolderSync"] {
            images.append(try PluginImage.load(BuiltProducts.plugin(name)))
        }
        return images
    }

    /// Whether each app has its own data.
    static let hasIdentity = (try? HostConfiguration(text: #"{ app: { id: "app" } }"#).settings()) != nil

    init(usesDatabase: Bool, syncingThrough shared: String? = nil) throws {
        folder = try TemporaryFolder(inMemory: true)
        (self.usesDatabase, self.shared) = (usesDatabase, shared)
    }

    var path: String { folder.path }

    /// A start of a release.
    func start(_ app: History.App, _ release: Int) async throws -> StorageRouter {
        let router = try router(app.identifier, version: "\(release + 1).0")
        let code = app.releases[release]
        let catalog = HistoryCatalog(allKeys: try code.keys.map { try $0.access(in: path).erased })
        if code.hasCatalog, code.cataloguesFirst { try await router.registerCatalog(catalog) }
        if let folder = code.subDirectory {
            await router.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: folder))
        }
        if code.hasCatalog, !code.cataloguesFirst { try await router.registerCatalog(catalog) }
        return router
    }

    /// A start of a program that knows no keys, such as `ld-host`.
    func program(_ app: History.App) throws -> StorageRouter { try router(app.identifier, version: nil) }

    private func router(_ app: String, version: String?) throws -> StorageRouter {
        let images = try Self.plugins.get()
        let router = StorageRouter(configuration: try HostConfiguration(text: text(app, version)))
        try router.publish { (state) throws(StorageError) in state.linked = images }
        return router
    }

    private func text(_ app: String, _ version: String?) -> String {
        """
        {
          directories: {
            data: "\(path)/data", cache: "\(path)/cache", state: "\(path)/state", config: "\(path)/config",
          },
          app: { \(Self.hasIdentity ? "id: \"\(app)\"," : "") \(version.map { "version: \"\($0)\"" } ?? "") },
          log: { level: "off" },
          appGroups: { default: "group.app" },
          keychain: { service: "app" },
          domains: { own: "file", rows: "rows", userDefaults: "\(usesDatabase ? "rows" : "file")" },
          \(shared.map { "sync: { transport: \"folder\", options: { folder: \"\($0)\", poll: 1 } }," } ?? "")
          stores: { rows: { component: "sqlite", options: { path: "${data}/rows.sqlite" } } },
        }
        """
    }

    /// Loses everything, as with a new machine that has the same layout.
    func wipe() throws {
        for name in try folder.entries() { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }
    }

    /// Removes lines of the host's record of places.
    func removePlaces(where isRemoved: (Substring) -> Bool) throws {
        guard let content = folder.content("data/places.jsonl") else { return }
        let lines = String(decoding: content, as: UTF8.self).split(separator: "\n").filter { !isRemoved($0) }
        try folder.write(lines.map { "\($0)\n" }.joined().utf8, to: "data/places.jsonl")
    }

    /// Removes the first value in files.
    func loseOneFile() throws {
        let file = try folder.files().first { file in
            file.hasPrefix("data/") && file.split(separator: "/").last.map { $0.hasPrefix("k") } ?? false
        }
        if let file { try FileManager.default.removeItem(atPath: "\(path)/\(file)") }
    }

    /// Runs the real `ld-host`.
    func runTool(_ arguments: [String]) throws -> ChildProcess.Completion {
        try folder.write(Array(text("app", nil).utf8), to: "tool.json5")
        return try ChildProcess(
            BuiltProducts.host, arguments: arguments,
            environment: ["HOME": path, "PATH": "/usr/bin:/bin", "LOCALDATA_CONFIG": "\(path)/tool.json5"]
        ).run(deadline: .seconds(60))
    }
}

struct HistoryCatalog: StorageKeyCatalog {
    let allKeys: [AnyStorageKey]
}
