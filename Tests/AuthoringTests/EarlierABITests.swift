import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

/// `Tests/PluginFixtures/abi-1.0` is the header as it was when ABI 1.0 was tagged. It is never edited: a change of the
/// header that breaks a plugin that was built against it must fail here.
@Suite("A plugin built against an earlier header of this ABI major")
struct EarlierABITests {
    @Test(
        "still loads, passes what it claims and serves a key",
        arguments: [("Tests/PluginFixtures/fixture.c", "fixture"), ("Examples/CBackend/cbackend.c", "c-backend")])
    func stillServes(source: String, component: String) async throws {
        let workspace = try Workspace()
        defer { workspace.remove() }
        let library = try workspace.build(
            "\(Repository.root)/\(source)", header: "\(Repository.root)/Tests/PluginFixtures/abi-1.0")
        let inspected = try workspace.host("plugins", "inspect", library)
        #expect(inspected.status == 0 && inspected.output.contains("ABI 1.0\n"), "\(inspected.errors)")
        #expect(inspected.output.contains("component \(component) (storage)"))

        let router = StorageRouter(
            configuration: try HostConfiguration(
                text: """
                    { plugins: { path: ["\(library)"] }, domains: { userDefaults: "\(component)" },
                      directories: { cache: "\(workspace.path)/cache" } }
                    """))
        let theme = StorageKey<String>(
            name: "theme", domain: .userDefaults(), security: .none, owner: "test", description: "A theme.")
        await #expect(throws: StorageError.notFound) { try await router.get(theme) }
        try await router.set("dark", for: theme)
        #expect(try await router.get(theme) == "dark")
        try await router.remove(theme)
        #expect(try await !router.exists(theme))
    }

    @Test("is not built against today's header by mistake")
    func headerIsTheEarlierOne() throws {
        let text = try Repository.text("Tests/PluginFixtures/abi-1.0/localdata/plugin.h")
        #expect(text.contains("#define LD_ABI_MAJOR 1\n#define LD_ABI_MINOR 0 "))
        let workspace = try Workspace()
        defer { workspace.remove() }
        try workspace.write("#error used\n", to: "localdata/plugin.h")
        #expect(throws: (any Error).self) {
            try workspace.build("\(Repository.root)/Tests/PluginFixtures/fixture.c", header: workspace.path)
        }
    }
}
