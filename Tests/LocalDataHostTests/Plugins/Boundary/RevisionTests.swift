import CLocalData
import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import HostPlugins
@testable import LocalDataHost

@Suite("plugins of later minors of the ABI", .waitsForPrograms) struct RevisionTests {
    @Test(
        "load and work, with larger tables, unknown kinds, flags and abilities",
        arguments: [7, 65535])
    func works(_ minor: Int) async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let path = try await fixture.build("FIXTURE_NEWER", "FIXTURE_MINOR=\(minor)")
        let image = try PluginImage.load(path)
        #expect(image.description.abi == "1.\(minor)")
        #expect(image.description.components.map(\.kindName) == ["unknown kind 77", "storage"])
        #expect(image.description.components.map(\.options.count) == [1, 0])
        let store = try image.open()
        for id in ["example.unknown/1", "localdata.store.tagged/1"] {
            #expect(id.withBytes { store.table.extension?(store.table.`self`, $0) } != nil, "\(id)")
        }
        #expect(store.abilityIDs == [LD_STORE_ATTRIBUTES])
        #expect(store.properties.enforcedAccessibilities.isEmpty && store.properties.enforcedAccessControls.isEmpty)
        try store.with("one") { handle in
            try store.set(handle, to: Data([1]), attributes: nil)
            #expect(try store.attributes(of: handle)?.contentType == "text/later")
        }
        store.close()

        let router = StorageRouter(configuration: try fixture.configuration("domains: { userDefaults: \"fixture\" }"))
        let key = StorageKey<[String]>(
            name: "list", domain: .userDefaults(), security: .none, owner: "tests", description: "a test key")
        try await router.set(["a", "b"], for: key)
        #expect(try await router.get(key) == ["a", "b"])
        try await router.remove(key)
        #expect(try await !router.exists(key))
    }

    @Test("do so in a release build of the host, too", .enabled(if: TestRun.isTorture))
    func release() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let path = try fixture.build("FIXTURE_NEWER", "FIXTURE_MINOR=7")
        let swift = try #require(Self.swift, "no swift on PATH")
        let build = "\(fixture.folder)/build"
        let built = try ChildProcess(
            swift,
            arguments: [
                "build", "-c", "release", "--product", "ld-host", "--package-path", Repository.root,
                "--scratch-path", build,
            ],
            environment: ["PATH": "/usr/bin:/bin", "HOME": fixture.folder]
        ).run(deadline: .seconds(1800))
        try #require(built.outcome == .exited(code: 0), "\(built.errorText)")
        let host = "\(build)/release/ld-host"
        let description = try PluginInspector(host: host, timeout: .seconds(20)).inspect(path)
        #expect(description.components.map(\.id) == ["later", "fixture"])
        let written = try ChildProcess(
            host, arguments: ["set", "userDefaults/name", "value", "-c", "domains.userDefaults=fixture"],
            environment: ["HOME": fixture.folder, "PATH": "/usr/bin:/bin", "LOCALDATA_PLUGIN_PATH": fixture.folder]
        ).run(deadline: .seconds(60))
        #expect(written.outcome == .exited(code: 0), "\(written.errorText)")
    }

    private static var swift: String? {
        let folders = getenv("PATH").map { String(cString: $0) } ?? ""
        return folders.split(separator: ":").map { "\($0)/swift" }.first { access($0, X_OK) == 0 }
    }
}
