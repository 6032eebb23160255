import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("The hello example")
struct HelloBackendTests {
    @Test(
        "is built as a package of its own, passes the kit, and serves a key through a host that was built elsewhere",
        arguments: BuildSystem.allCases)
    func servesAKey(_ system: BuildSystem) async throws {
        let example = try BuiltExample("HelloBackend", by: system)
        defer { example.remove() }
        try conforms(example)
        try servesAsTheReadmeShows(example)
        let configuration = try HostConfiguration(
            text: """
                { plugins: { path: ["\(example.products)/libHelloBackend.so"] },
                  domains: { userDefaults: "hello" }, directories: { cache: "\(example.folder)/cache" } }
                """)
        let router = StorageRouter(configuration: configuration)
        await #expect(throws: StorageError.notFound) { try await router.get(.theme) }
        try await router.set("dark", for: .theme)
        #expect(try await router.get(.theme) == "dark")
        #expect(try await router.stores.route(of: "userDefaults")?.plugin.contains("libHelloBackend.so") == true)
    }

    private func conforms(_ example: BuiltExample) throws {
        let report = try example.run(
            BuiltProducts.host, "plugins", "test", "\(example.products)/libHelloBackend.so")
        #expect(report.contains(", 0 failed,"), "\(report)")
    }

    /// Runs the README's session. The products of the example have been copied from where `swift build` shows.
    private func servesAsTheReadmeShows(_ example: BuiltExample) throws {
        let lines = try #require(try Document("README.md").blocks(of: "console").last).split(separator: "\n")
        let commands = lines.filter { $0.hasPrefix("$ ") }.map { $0.dropFirst(2) }
        try #require(commands.contains { $0.hasPrefix("ld-host ") })
        let script = """
            set -e; cd '\(example.folder)'; PATH=\(BuiltProducts.folder):$PATH; exec 2>&1
            swift() { test "$*" = 'build --show-bin-path' && echo '\(example.products)'; }

            """
        let output = try example.run("/bin/sh", "-c", script + commands.joined(separator: "\n"))
        let shown = lines.filter { !$0.hasPrefix("$ ") }.map { "\($0)\n" }.joined()
        #expect(output == shown.replacing("/home/ann/.config", with: "\(example.folder)/config"))
    }
}
