import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("ConfigurationLayer of a flag")
struct ConfigurationFlagTests {
    @Test(
        "a value is JSON5 if it parses, and a plain string if not",
        arguments: [
            ("domains.userDefaults=memory", ["domains", "userDefaults"], JSONValue.string("memory")),
            ("plugins.timeout=2.5", ["plugins", "timeout"], .double(2.5)),
            ("plugins.path=['/a',]", ["plugins", "path"], .array([.string("/a")])),
            ("stores.c={component:'m'}", ["stores", "c", "component"], .string("m")),
            (#"domains."x.custom"=cache"#, ["domains", "x.custom"], .string("cache")),
            ("stores.c.sealing=null", ["stores", "c", "sealing"], .null),
            ("keychain.service=", ["keychain", "service"], .string("")),
            ("keychain.service=a=b", ["keychain", "service"], .string("a=b")),
            ("keychain.service='a'", ["keychain", "service"], .string("a")),
            ("app.version=1.10", ["app", "version"], .string("1.10")),
            ("keychain.service=true", ["keychain", "service"], .string("true")),
            ("unknown=true", ["unknown"], .bool(true)),
        ])
    func values(text: String, path: [String], expected: JSONValue) throws {
        let layer = try ConfigurationLayer(assignment: text)
        #expect(layer.value[path] == expected)
        #expect(layer.name == .flag)
        #expect("\(layer.origin(of: path))" == "flag -c \(text)")
    }

    @Test("a flag without a key or an equals sign is refused", arguments: ["", "a", "=1", "a.=1", #""a=1"#, "a b=1"])
    func refused(text: String) {
        #expect(throws: StorageError.invalidConfiguration) { try ConfigurationLayer(assignment: text) }
    }
}
