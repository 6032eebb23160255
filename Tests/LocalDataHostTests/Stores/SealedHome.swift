import Foundation
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import LocalDataHost

/// A temporary folder with its own data, keys and locks, and the plugins that are built with the tests; removed by
/// ``remove()``. Each router that is made here shares only the folder with the others, like a separate process.
struct SealedHome: Sendable {
    let fixture: FixtureBuilder

    init() throws { fixture = try FixtureBuilder() }

    var folder: String { fixture.folder }
    /// The key of the keychain's store.
    var keyFile: String { "\(folder)/config/keys/sealed-files.key" }

    /// A router with the default configuration, plus the settings in `domains` and `text`.
    func router(domains: String = "", _ text: String = "") throws -> StorageRouter {
        StorageRouter(configuration: try configuration(domains: domains, text))
    }

    /// The configuration of such a router.
    func configuration(domains: String = "", _ text: String = "") throws -> HostConfiguration {
        let own = domains.contains("own:") ? "" : "own: \"file\", "
        let standard = domains.contains("userDefaults:") ? "" : Self.userDefaults
        return try fixture.configuration(
            "domains: { \(own)\(standard)\(domains) }, appGroups: { default: \"group.app\" }, \(text)")
    }

    /// Serves this domain from files, where tests can find its values.
    private static let userDefaults = "userDefaults: \"file\", "

    /// A router whose domain `own` is served by the sealed store `vault`.
    func vault(_ sealing: String, domains: String = "", more: String = "") throws -> StorageRouter {
        StorageRouter(configuration: try fixture.configuration(Self.vaultText(sealing, domains: domains, more: more)))
    }

    static func vaultText(_ sealing: String, domains: String = "", more: String = "") -> String {
        """
        domains: { own: "vault", \(domains.contains("userDefaults:") ? "" : userDefaults)\(domains) },
        stores: { vault: { component: "file", options: { root: "${data}/vault" }, \(sealing) } }, \(more)
        """
    }

    func remove() { fixture.remove() }

    /// All files below a subfolder, by their paths, with their content.
    func files(_ below: String = "") -> [String: Data] {
        let root = "\(folder)/\(below)"
        var files: [String: Data] = [:]
        for path in (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? [] {
            var status = stat()
            guard lstat("\(root)/\(path)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            files[path] = try? Data(contentsOf: URL(filePath: "\(root)/\(path)"))
        }
        return files
    }

    /// Whether any file in the folder contains these bytes.
    func contains(_ text: String) -> Bool {
        files().values.contains { $0.range(of: Data(text.utf8)) != nil }
    }

    /// The file of a value below the data folder; it must exist.
    func valueFile(_ name: String, below: String = "data") throws -> String {
        let found = files(below).keys.filter { $0.split(separator: "/").last.map(String.init) == name }
        try #require(found.count == 1, "the files of that name are \(found)")
        return "\(folder)/\(below)/\(found[found.startIndex])"
    }

    static func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }
}

extension StorageError {
    /// The storage error that `body` throws.
    static func of<Value>(
        location: SourceLocation = #_sourceLocation, _ body: () async throws -> Value
    ) async throws -> StorageError {
        let error = await #expect(throws: StorageError.self, sourceLocation: location) { _ = try await body() }
        return try #require(error, sourceLocation: location)
    }
}

/// Collects bytes from several threads.
final class Pieces: Sendable {
    private let state = MutexBox<Data>(Data())

    var data: Data { state.withLock { $0 } }

    func add(_ piece: UnsafeRawBufferPointer) { state.withLock { $0.append(contentsOf: piece) } }
}
