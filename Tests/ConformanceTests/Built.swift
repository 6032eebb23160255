import FoundationEssentials
import Glibc
import LocalDataHost
import Testing

/// What is built beside these tests, and what they build themselves.
enum Built {
    /// The folder of this test bundle, which is the one of `ld-host` and the plugins.
    static let folder: String = {
        // The bundle is a library of the program that runs the tests; the kernel knows where it was loaded from.
        let maps = (try? String(contentsOf: URL(filePath: "/proc/self/maps"), encoding: .utf8)) ?? ""
        let bundle = maps.split(separator: "\n").first { $0.hasSuffix(".xctest") }.flatMap {
            $0.split(separator: " ").last
        }
        return URL(filePath: bundle.map(String.init) ?? "/").deletingLastPathComponent().path(percentEncoded: false)
    }()

    static var host: String { "\(folder)/ld-host" }

    typealias End = (status: Int32, output: String, errors: String)

    /// Runs `ld-host plugins test` and gives its exit status with both outputs.
    static func testPlugin(_ file: String, _ arguments: String...) throws -> End { try run(file, arguments) }

    /// - Parameter home: The user's; none is needed for a file.
    static func run(_ file: String, _ arguments: [String], home: String? = nil) throws -> End {
        var environment = ["PATH": "/usr/bin:/bin"]
        environment["HOME"] = home
        let end = try ChildProcess(
            host, arguments: ["plugins", "test", file] + arguments, environment: environment
        ).run(deadline: .seconds(300))
        guard case .exited(let status) = end.outcome else {
            throw Failure(description: "ld-host \(end.outcome): \(end.errorText)")
        }
        return (status, String(decoding: end.output, as: UTF8.self), end.errorText)
    }

    /// Builds a variant of `PluginFixtures/shared.c` in a folder of its own, which the caller removes.
    static func fixture(_ variant: String?) throws -> (folder: String, file: String) {
        try library(
            "libShared.so", of: ["shared.c"],
            arguments: ["-O1", "-pthread"] + (variant.map { ["-D\($0)"] } ?? []))
    }

    /// Builds the crypto provider of `PluginFixtures/crypto` likewise; an option says what is broken of it.
    static func provider() throws -> (folder: String, file: String) {
        try library(
            "libCrypto.so", of: ["crypto/provider.c", "crypto/broken.c"], arguments: ["-lcrypto", "-lsodium"])
    }

    /// Builds the migration pack of `PluginFixtures/pack.c` likewise.
    static func pack() throws -> (folder: String, file: String) {
        try library("libPack.so", of: ["pack.c"], arguments: ["-O1", "-pthread"])
    }

    private static func library(
        _ name: String, of sources: [String], arguments: [String]
    ) throws -> (folder: String, file: String) {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let header = tests.deletingLastPathComponent().appending(path: "Sources/LocalDataAPI/CLocalData/include")
        // Not in /tmp, which a host may take for a place where others can put plugins.
        var template = Array("\(folder)/conformance.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(description: "no folder in \(folder)") }
        let made = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        let file = "\(made)/\(name)"
        let end = try ChildProcess(
            "/usr/bin/cc",
            arguments: [
                "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I",
                header.path(percentEncoded: false), "-o", file,
            ] + sources.map { tests.appending(path: "PluginFixtures/\($0)").path(percentEncoded: false) } + arguments,
            environment: ["PATH": "/usr/bin:/bin"]
        ).run(deadline: .seconds(60))
        guard end.outcome == .exited(code: 0) else {
            try? FileManager.default.removeItem(atPath: made)
            throw Failure(description: end.errorText)
        }
        return (made, file)
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }
}
