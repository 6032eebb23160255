import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import LocalDataHost

@Suite("older and newer revisions of the tables", .waitsForPrograms) struct RevisionTests {
    @Test(
        "a plugin with smaller or larger tables than the host's loads, stores and reads back",
        arguments: ["FIXTURE_OLDER", "FIXTURE_NEWER"])
    func works(_ variant: String) async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let path = try await fixture.build(variant)
        let image = try PluginImage.load(path)
        #expect(image.description.abi == (variant == "FIXTURE_NEWER" ? "1.1" : "1.0"))
        // The garbage that lies behind an older table's end is neither asked for abilities nor called to close.
        let store = try image.open()
        #expect(store.abilityIDs.isEmpty)
        store.close()

        let router = StorageRouter(configuration: try fixture.configuration("domains: { userDefaults: \"fixture\" }"))
        let key = StorageKey<[String]>(
            name: "list", domain: .userDefaults(), security: .none, owner: "tests", description: "a test key")
        try await router.set(["a", "b"], for: key)
        #expect(try await router.get(key) == ["a", "b"])
        try await router.remove(key)
        #expect(try await !router.exists(key))
    }

    @Test(
        "a release build of the host takes the same plugins", .enabled(if: TestRun.isTorture),
        arguments: ["FIXTURE_OLDER", "FIXTURE_NEWER"])
    func release(_ variant: String) throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let path = try fixture.build(variant)
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
        #expect(description.components.map(\.id) == ["fixture"])
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
