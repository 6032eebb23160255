import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostGround
@testable import HostPlugins
@testable import LocalDataHost

@Suite struct OptionResolverTests {
    private func resolve(_ options: [String: ComponentOption.Value]) throws -> [String: ComponentOption.Value] {
        try decoded(resolved(options).identity)
    }

    private func decoded(_ json: Data) throws -> [String: ComponentOption.Value] {
        try JSONDecoder().decode([String: ComponentOption.Value].self, from: json)
    }

    private func resolved(_ options: [String: ComponentOption.Value]) throws -> ResolvedOptions {
        let component = PluginDescription.Component(
            kind: 1, id: "some", summary: "",
            options: [
                .string("mode", default: "fast", allowed: ["fast", "safe"], help: "how"),
                .path("root", default: "${data}/x", help: "where"), .integer("count", required: true, help: "how many"),
                .number("ratio", help: "how much"), .boolean("sync", default: true, help: "whether"),
                .list("steps", help: "which"), .secret("token", help: "a secret"),
            ])
        let folders = HostSettings.Folders(data: "/d", cache: "/c", state: "/s", config: "/f")
        let store = HostSettings.Store(
            name: "store", component: "some", options: options, origin: "file:3", concurrency: 1, timeout: .seconds(1),
            sealing: nil)
        return try OptionResolver(component: component, folders: folders).resolve(store)
    }

    @Test("defaults are filled in, and an option without one stays absent")
    func defaults() throws {
        let resolved = try resolve(["count": .integer(3)])
        #expect(
            resolved == [
                "mode": .string("fast"), "root": .string("/d/x"), "count": .integer(3), "sync": .boolean(true),
            ])
    }

    @Test("a list is passed with its elements")
    func list() throws {
        let steps: [AnyCodable] = [["id": "a", "to": [1, 0.5, nil, true]], "x"]
        #expect(try resolve(["count": .integer(1), "steps": .list(steps)])["steps"] == .list(steps))
    }

    @Test(
        "folders replace their placeholders",
        arguments: [
            ("${data}", "/d"), ("${cache}/a", "/c/a"), ("${state}/a", "/s/a"), ("${config}/a", "/f/a"),
            ("/a/${data}", "/a/${data}"),
        ])
    func folders(_ text: String, _ expected: String) throws {
        #expect(try resolve(["count": .integer(1), "root": .string(text)])["root"] == .string(expected))
    }

    @Test(
        "a value that does not fit is refused by name",
        arguments: [
            ("mode", .string("slow"), "expected one of fast, safe"), ("mode", .integer(1), "expected string"),
            ("root", .string("relative"), "not an absolute path"), ("root", .string("${home}/x"), "expected ${data}"),
            ("root", .string(""), "not an absolute path"), ("root", .string("/a\0b"), "not an absolute path"),
            ("count", .string("3"), "expected integer"), ("count", .number(3.5), "expected integer"),
            ("ratio", .boolean(true), "expected number"), ("sync", .integer(1), "expected boolean"),
            ("steps", .string("[]"), "expected list"),
            ("mode", .list(["fast"]), "expected string"),
        ] as [(String, ComponentOption.Value, String)])
    func refuses(_ name: String, _ value: ComponentOption.Value, _ reason: String) throws {
        var options: [String: ComponentOption.Value] = ["count": .integer(1)]
        options[name] = value
        let error = try #require(throws: StorageError.self) { try resolve(options) }
        #expect(error.code == .invalidOptions)
        #expect(error.message.contains("'\(name)'") && error.message.contains(reason))
        #expect(error.message.contains("'store' (file:3)") && error.hint.contains("ld-host plugins inspect some"))
    }

    @Test("one error lists every problem, including unknown and missing options")
    func everyProblem() throws {
        let error = try #require(throws: StorageError.self) {
            try resolve(["colour": .string("red"), "sync": .string("yes")])
        }
        #expect(error.message.contains("unknown option 'colour'; it has count, mode, ratio, root, steps, sync, token"))
        #expect(error.message.contains("'count' is missing: how many") && error.message.contains("'sync'"))
    }

    @Test("a secret is read from the keychain for the component alone")
    func secret() throws {
        let options = try resolved(["count": .integer(1), "token": .string("keychain:team/token")])
        #expect(try decoded(options.identity)["token"] == .string("keychain:team/token"))
        let bytes = try SecretBytes(count: 7) { $0.copyBytes(from: "horse\r\n".utf8) }
        let found: SecretLookup = { (_) throws(StorageError) in bytes }
        let values = try decoded(options.revealed(by: found))
        #expect(values["token"] == .string("horse") && values["count"] == .integer(1))
        let lacking: SecretLookup = { (_) throws(StorageError) in nil }
        for lookup in [nil, lacking] {
            let error = #expect(throws: StorageError.self) { try options.revealed(by: lookup) }
            #expect(error?.code == .invalidOptions && error?.message.contains("'keychain:team/token'") == true)
        }
        let plain = try resolved(["count": .integer(1)])
        #expect(try plain.revealed(by: nil) == plain.identity)
    }

    @Test(
        "a secret in the configuration is refused and not repeated", arguments: ["hunter2", "file/hunter2"])
    func literalSecret(_ text: String) throws {
        let error = try #require(throws: StorageError.self) {
            try resolve(["count": .integer(1), "token": .string(text)])
        }
        #expect(error.code == .invalidOptions && error.message.contains("'token'"))
        #expect(!error.message.contains("hunter2"))
    }

    @Test("a whole number is also a number")
    func wholeNumber() throws {
        #expect(try resolve(["count": .integer(1), "ratio": .integer(2)])["ratio"] == .integer(2))
        // JSON does not distinguish 2 from 2.0; a component that asks for a number gets one either way.
        #expect(try ComponentOptions(["ratio": .integer(2)]).number("ratio") == 2)
    }
}
