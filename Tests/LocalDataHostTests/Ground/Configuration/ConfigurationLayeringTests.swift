import LocalDataAPI
import LocalDataHost
import Testing

@Suite("LayeredConfiguration")
struct ConfigurationLayeringTests {
    private func layered() throws -> LayeredConfiguration {
        let system =
            "{\n  stores: {\n    a: { component: 'm', options: { x: 1, y: 2 } },\n  },\n  plugins: { path: ['/1', '/2'] },\n}"
        let user = "{ stores: { a: { options: { y: 3 } } },\n plugins: { path: ['/3'] },\n log: {} }"
        return LayeredConfiguration(layers: [
            ConfigurationLayer(.default, source: "default", value: ConfigurationSchema.host.defaults),
            ConfigurationLayer(.system, try ConfigurationDocument(text: system, source: "/etc/c.json")),
            ConfigurationLayer(.user, try ConfigurationDocument(text: user, source: "/u/c.json")),
            try ConfigurationLayer(assignment: "domains.userDefaults=memory"),
        ])
    }

    @Test("objects merge, arrays replace, and every value knows its origin")
    func merging() throws {
        let configuration = try layered()
        func described(_ path: [String]) -> String? {
            configuration.value(at: path).map { "\((try? $0.value.serialized()) ?? "") \($0.origin)" }
        }
        #expect(described(["stores", "a", "options"]) == #"{"x":1,"y":3} /u/c.json:1"#)
        #expect(described(["stores", "a", "options", "x"]) == "1 /etc/c.json:3")
        #expect(described(["stores", "a", "options", "y"]) == "3 /u/c.json:1")
        #expect(described(["plugins", "path"]) == #"["/3"] /u/c.json:2"#)
        #expect(described(["plugins", "path", "0"]) == #""/3" /u/c.json:2"#)
        #expect(described(["plugins", "timeout"]) == "5 default")
        #expect(described(["domains", "userDefaults"]) == #""memory" flag -c domains.userDefaults=memory"#)
        #expect(described(["log", "level"]) == #""warning" default"#)
        for absent in [["plugins", "path", "1"], ["x"], ["stores", "a", "component", "x"], ["log", "level", "0"]] {
            #expect(described(absent) == nil)
        }
    }

    @Test("the origins are those of exactly the leaves of the effective configuration")
    func origins() throws {
        let configuration = try layered()
        let origins = configuration.origins
        var rebuilt = JSONValue.object([:])
        for path in origins.keys {
            let (value, origin) = try #require(configuration.value(at: path))
            #expect(origin == origins[path])
            rebuilt = rebuilt.setting(value, at: path)
        }
        #expect(rebuilt == configuration.effective)
        #expect(origins.count == 19)
    }

    @Test("a value that a stronger layer replaced has no effect")
    func replacing() throws {
        func layer(_ text: String) throws -> ConfigurationLayer {
            ConfigurationLayer(.user, try ConfigurationDocument(text: text, source: text))
        }
        let layers = try [layer("{ a: { x: 1 } }"), layer("{ a: null }"), layer("{ a: { y: 2 } }")]
        #expect(LayeredConfiguration(layers: Array(layers[..<2])).effective == .object(["a": .null]))
        let configuration = LayeredConfiguration(layers: layers)
        #expect(configuration.effective == .object(["a": .object(["y": .integer(2)])]))
        #expect(configuration.value(at: ["a", "x"]) == nil)
        let kept = LayeredConfiguration(layers: try [layer("{ a: { x: 1 } }"), layer("{ a: {} }")])
        #expect(kept.effective == .object(["a": .object(["x": .integer(1)])]))
    }

    @Test("a value set in code is the strongest, and the configuration it came from is unchanged")
    func code() throws {
        let before = try layered()
        let path = ["domains", "userDefaults"]
        let after = try before.setting(.string("x"), at: path).setting(.string("off"), at: ["log", "level"])
        #expect(after.layers.filter { $0.name == .code }.count == 1)
        #expect(try after.string(at: path) == "x")
        #expect(try after.string(at: ["log", "level"]) == "off")
        #expect(after.value(at: path)?.origin.description == "code")
        #expect(try before.string(at: path) == "memory")
        #expect(throws: StorageError.invalidConfiguration) { try before.setting(.null, at: []) }
    }

    @Test("typed access returns nil for a missing value and names the origin of one of another type")
    func access() throws {
        let configuration = try layered()
        #expect(try configuration.double(at: ["plugins", "timeout"]) == 5)
        #expect(try configuration.integer(at: ["stores", "a", "options", "x"]) == 1)
        #expect(try configuration.strings(at: ["plugins", "path"]) == ["/3"])
        #expect(try configuration.keys(at: ["stores", "a", "options"]) == ["x", "y"])
        #expect(try configuration.keys(at: ["none"]) == [])
        #expect(try configuration.string(at: ["none"]) == nil)
        #expect(try configuration.double(at: ["none"]) == nil)
        #expect(try configuration.strings(at: ["none"]) == nil)
        let error = #expect(throws: StorageError.self) {
            try configuration.string(at: ["stores", "a", "options", "x"])
        }
        #expect(error?.message == "/etc/c.json:3: stores.a.options.x: expected a string, found an integer")
        #expect(throws: StorageError.self) { try configuration.double(at: ["log", "level"]) }
        #expect(throws: StorageError.self) { try configuration.integer(at: ["log", "level"]) }
        #expect(throws: StorageError.self) { try configuration.strings(at: ["log", "level"]) }
        #expect(throws: StorageError.self) { try configuration.keys(at: ["log", "level"]) }
        let mixed = try configuration.setting(.array([.string("a"), .null]), at: ["plugins", "path"])
        let element = #expect(throws: StorageError.self) { try mixed.strings(at: ["plugins", "path"]) }
        #expect(element?.message == "code: plugins.path.1: expected a string, found null")
    }

    @Test("without layers the configuration is empty")
    func empty() {
        let configuration = LayeredConfiguration(layers: [])
        #expect(configuration.effective == .object([:]))
        #expect(configuration.value(at: []) == nil)
        #expect(configuration.value(at: ["a"]) == nil)
    }
}
