import FoundationEssentials
import Glibc
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

/// A temporary folder in which variants of the C plugin in `Tests/PluginFixtures` are built.
///
/// A plugin is never unloaded and is known by its path, so every test has a separate folder, removed by ``remove()``.
struct FixtureBuilder: Sendable {
    /// The folder, writable by its owner only, as the host demands.
    let folder: String

    init() throws { folder = try TemporaryFolder.make(named: "localdata-fixture") }

    /// The `ld-host` that was built with the tests.
    static var host: String {
        get throws {
            let host = PluginInspector.installedHost
            return try #require(host, "ld-host is not beside the tests; run: swift build")
        }
    }

    /// Compiles the fixture with `-D` for each word of `variant`, and returns the library's path.
    func build(
        _ variant: String..., component: String = "fixture", as name: String = "libFixture.so"
    ) throws -> String {
        try build(variant: variant, component: component, as: name)
    }

    /// Like ``build(_:component:as:)``, with the words in a list, and of another fixture if one is named.
    func build(
        variant: [String], component: String = "fixture", as name: String = "libFixture.so",
        source: String = "fixture.c"
    ) throws -> String {
        let path = "\(folder)/\(name)"
        let end = try ChildProcess(
            "/usr/bin/cc",
            arguments: ["-std=c11", "-shared", "-fPIC", "-o", path]
                + ["-I", Repository.header]
                + ["-DCOMPONENT_ID=\"\(component)\""] + variant.map { "-D\($0)" }
                + ["\(Repository.tests)/PluginFixtures/\(source)"],
            environment: ["PATH": "/usr/bin:/bin"]
        ).run(deadline: .seconds(120))
        try #require(end.outcome == .exited(code: 0), "cc \(end.outcome): \(end.errorText)")
        try #require(chmod(path, 0o755) == 0)
        return path
    }

    /// Like the other method, but holds no thread of Swift's pool while the compiler runs.
    func build(_ variant: String..., component: String = "fixture") async throws -> String {
        try await withTaskExecutorPreference(WaitingThreads.shared) {
            try build(variant: variant, component: component)
        }
    }

    /// Writes a file and returns its path.
    func write(_ bytes: some Sequence<UInt8>, to name: String, mode: mode_t = 0o755) throws -> String {
        let path = "\(folder)/\(name)"
        try Data(bytes).write(to: URL(filePath: path))
        try #require(chmod(path, mode) == 0)
        return path
    }

    /// A configuration with all folders and plugins in this one, plus the settings in `text`. Without `app.id`, data
    /// belongs to no app, as that of `ld-host`.
    func configuration(_ text: String, timeout: Double = 20) throws -> HostConfiguration {
        var configuration = try HostConfiguration(
            text: """
                {
                  directories: {
                    data: "\(folder)/data", cache: "\(folder)/cache", state: "\(folder)/state", config: "\(folder)/config",
                  },
                  plugins: { path: ["\(folder)"], timeout: \(timeout) },
                  log: { level: "off" },
                  \(text)
                }
                """)
        configuration.ownAppID = ""
        return configuration
    }

    /// Runs the `ld-host` next to the tests with this folder as its home.
    func runHost(_ arguments: String..., environment: [String: String] = [:]) throws -> ChildProcess.Completion {
        try runHost(arguments, environment: environment)
    }

    /// Like the other method, with the arguments in a list.
    func runHost(_ arguments: [String], environment: [String: String] = [:]) throws -> ChildProcess.Completion {
        let standard = [
            "HOME": folder, "PATH": "/usr/bin:/bin", "XDG_DATA_HOME": "\(folder)/data",
            "XDG_CONFIG_HOME": "\(folder)/config", "XDG_CACHE_HOME": "\(folder)/cache",
            "XDG_STATE_HOME": "\(folder)/state", "LOCALDATA_PLUGIN_PATH": folder,
        ]
        return try ChildProcess(
            try FixtureBuilder.host, arguments: arguments,
            environment: standard.merging(environment) { $1 }
        ).run(deadline: .seconds(60))
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }
}
