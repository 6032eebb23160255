import FoundationEssentials
import Glibc
import JSON
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@testable import MigrationManifest

/// A temporary folder with stores of several kinds, and the plugins that are built with the tests.
struct ManifestHome: Sendable {
    let folder: String

    init() throws { folder = try TemporaryFolder.make(named: "localdata-manifest") }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    /// A router that shares only the folder with others, like a separate process: `userDefaults` and `fileSystem` are
    /// files, `rows` a database, and `keychain` files that the host seals.
    func router(version: String? = nil, _ text: String = "") throws -> StorageRouter {
        let app = "app: { id: \"\"\(version.map { ", version: \"\($0)\"" } ?? "") },"
        return StorageRouter(
            configuration: try HostConfiguration(
                text: """
                    {
                      directories: {
                        data: "\(folder)/data", cache: "\(folder)/cache", state: "\(folder)/state",
                        config: "\(folder)/config",
                      },
                      plugins: { timeout: 20 }, log: { level: "off" },
                      domains: { userDefaults: "file", fileSystem: "file", rows: "rows" }, \(app)
                      stores: { rows: { component: "sqlite", options: { path: "${data}/rows.sqlite" } } }, \(text)
                    }
                    """))
    }

    /// Writes a file of this folder, and returns its path.
    func write(_ text: String, to name: String = "manifest.json", mode: mode_t = 0o600) throws -> String {
        let path = "\(folder)/\(name)"
        try Data(text.utf8).write(to: URL(filePath: path))
        try #require(chmod(path, mode) == 0)
        return path
    }
}

extension StorageRouter {
    /// Stores bytes at an address, in a format if one is given.
    func put(_ text: String, at address: String) async throws {
        try await setData(Data(text.utf8), for: AnyStorageKey(StorageKeyDescriptor(address: address)))
    }

    /// The text at an address; `nil` if absent. No migration runs.
    func text(at address: String) async throws -> String? {
        let key = AnyStorageKey(try StorageKeyDescriptor(address: address))
        guard try await exists(key) else { return nil }
        return try await data(for: key).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Runs every step of a manifest for single keys, and returns the report of each, by its id.
    func run(_ manifest: Manifest) async throws -> [String: MigrationReport.Entry] {
        for migration in manifest.migrations { try await registerMigration(migration) }
        let report = try await migrate(manifest.migrations.map(\.destinationKey))
        return Dictionary(
            report.entries.compactMap { entry in entry.migration.map { ($0, entry) } },
            uniquingKeysWith: { first, _ in first })
    }
}

extension Manifest {
    /// A manifest in the form of a file; its mistakes are reported without line numbers.
    init(text: String) throws {
        let json = try JSON.parse(Array(text.utf8))
        do throws(ManifestFaults) { try self.init(json) } catch { throw error.error() }
    }
}
