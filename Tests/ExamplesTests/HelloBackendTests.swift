import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import Testing

@Suite("The hello example")
struct HelloBackendTests {
    @Test("is built as a package of its own and serves a key through a host that was built elsewhere")
    func servesAKey() async throws {
        let scratch = URL(filePath: "/tmp/localdata-hello-\(UInt64.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: scratch) }
        let build = try ChildProcess(
            "/usr/bin/env",
            arguments: [
                "swift", "build", "--package-path", "\(Repository.root)/Examples/HelloBackend", "--scratch-path",
                scratch.path(percentEncoded: false),
            ], environment: ProcessInfo.processInfo.environment
        ).run(deadline: .seconds(900))
        try #require(build.outcome == .exited(code: 0), "\(String(decoding: build.output.suffix(4000), as: UTF8.self))")

        let configuration = try HostConfiguration(
            text: """
                { plugins: { path: ["\(scratch.path(percentEncoded: false))/debug/libHelloBackend.so"] },
                  domains: { userDefaults: "hello" },
                  directories: { cache: "\(scratch.path(percentEncoded: false))/cache" } }
                """)
        let router = StorageRouter(configuration: configuration)
        await #expect(throws: StorageError.notFound) { try await router.get(.theme) }
        try await router.set("dark", for: .theme)
        #expect(try await router.get(.theme) == "dark")
        #expect(try await router.explanation(of: "userDefaults").contains("libHelloBackend.so"))
    }
}
