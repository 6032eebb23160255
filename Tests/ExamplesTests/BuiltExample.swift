import FoundationEssentials
import LocalDataHost
import Testing

/// An example package, built for a test as its author would build it, in a folder of the test's own.
struct BuiltExample {
    /// The folder that holds everything; remove it at the end.
    let folder: String
    /// Where the products are.
    var products: String { "\(folder)/.build/debug" }

    init(_ name: String) throws {
        folder = "/tmp/localdata-\(name)-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let build = try ChildProcess(
            "/usr/bin/env",
            arguments: [
                "swift", "build", "--package-path", "\(Repository.root)/Examples/\(name)", "--scratch-path",
                "\(folder)/.build",
            ], environment: ProcessInfo.processInfo.environment
        ).run(deadline: .seconds(900))
        try #require(build.outcome == .exited(code: 0), "\(String(decoding: build.output.suffix(4000), as: UTF8.self))")
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    /// Runs a program with a home of its own inside the folder, and the plugins beside the tests.
    func run(_ program: String, _ arguments: String...) throws -> String { try run(program, arguments) }

    /// The same with the arguments in a list.
    func run(_ program: String, _ arguments: [String]) throws -> String {
        let end = try ChildProcess(
            program, arguments: arguments,
            environment: [
                "HOME": "\(folder)/home", "PATH": "/usr/bin:/bin", "LOCALDATA_PLUGIN_PATH": Self.binaries,
                "XDG_CONFIG_HOME": "\(folder)/config",
            ]
        ).run(deadline: .seconds(60))
        #expect(end.outcome == .exited(code: 0), "\(end.errorText)")
        return String(decoding: end.output, as: UTF8.self)
    }

    /// The folder of `ld-host` and the plugins, which is that of the tests.
    static let binaries: String = {
        let executable = PluginSearchPath.executable ?? ""
        return String(executable[..<(executable.lastIndex(of: "/") ?? executable.startIndex)])
    }()
}
