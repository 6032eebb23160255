import FoundationEssentials
import Glibc
import LocalDataHost
import Synchronization
import TestSupport
import Testing

/// The products that are built with these tests, and libraries that they build themselves.
enum Built {
    typealias End = (status: Int32, output: String, errors: String)

    /// Runs `ld-host plugins test` and returns its exit status with both outputs.
    static func testPlugin(_ file: String, _ arguments: String...) throws -> End { try run(file, arguments) }

    /// - Parameter home: The user's home; not needed for a file.
    static func run(_ file: String, _ arguments: [String], home: String? = nil) throws -> End {
        var environment = ["PATH": "/usr/bin:/bin"]
        environment["HOME"] = home
        let end = try ChildProcess(
            BuiltProducts.host, arguments: ["plugins", "test", file] + arguments, environment: environment
        ).run(deadline: .seconds(300))
        guard case .exited(let status) = end.outcome else {
            throw TestFailure("ld-host \(end.outcome): \(end.errorText)")
        }
        return (status, String(decoding: end.output, as: UTF8.self), end.errorText)
    }

    /// Builds a variant of `PluginFixtures/shared.c` in a folder of its own, which the caller removes.
    static func fixture(_ variant: String?) throws -> (folder: String, file: String) {
        try library(
            "libShared.so", of: ["shared.c"],
            arguments: ["-O1", "-pthread"] + (variant.map { ["-D\($0)"] } ?? []))
    }

    /// The crypto provider of `PluginFixtures/crypto`, built once; an option selects the fault.
    static let provider = Result {
        let sources = ["crypto/provider.c", "crypto/broken.c"]
        return try kept(library("libCrypto.so", of: sources, arguments: ["-lcrypto", "-lsodium"]))
    }

    /// The migration pack of `PluginFixtures/pack.c` likewise.
    static let pack = Result { try kept(library("libPack.so", of: ["pack.c"], arguments: ["-O1", "-pthread"])) }

    private static let folders = Mutex<[String]>([])

    /// Removes a library's folder when the tests end.
    private static func kept(_ library: (folder: String, file: String)) -> String {
        folders.withLock { folders in
            if folders.isEmpty {
                atexit {
                    for folder in Built.folders.withLock(\.self) { try? FileManager.default.removeItem(atPath: folder) }
                }
            }
            folders.append(library.folder)
        }
        return library.file
    }

    private static func library(
        _ name: String, of sources: [String], arguments: [String]
    ) throws -> (folder: String, file: String) {
        // Not in /tmp: a host may refuse plugins there, since others can write to it.
        let made = try TemporaryFolder.make(in: BuiltProducts.folder, named: "conformance")
        let file = "\(made)/\(name)"
        let end = try ChildProcess(
            "/usr/bin/cc",
            arguments: [
                "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I",
                Repository.header, "-o", file,
            ] + sources.map { "\(Repository.tests)/PluginFixtures/\($0)" } + arguments,
            environment: ["PATH": "/usr/bin:/bin"]
        ).run(deadline: .seconds(60))
        guard end.outcome == .exited(code: 0) else {
            try? FileManager.default.removeItem(atPath: made)
            throw TestFailure(end.errorText)
        }
        return (made, file)
    }
}
