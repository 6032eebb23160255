import LocalDataAPI
import LocalDataHost
import Testing

@Suite("ConfigurationSchema")
struct ConfigurationSchemaTests {
    private func problems(_ text: String) throws -> [String] {
        let document = try ConfigurationDocument(text: text, source: "c.json")
        return ConfigurationSchema.host.validate(document).map(\.description)
    }

    private static let whole = """
        {
          plugins: { path: ["/opt/plugins", "/usr/lib/x.so"], timeout: 5.0 },
          stores: {
            cache: { component: "memory", options: { any: [1, {}] }, sealing: null, concurrency: 48, timeout: 10.0 },
            "my.store_2-x": { component: "com.example.store", sealing: "keyFile" },
            other: {
                component: "file",
                sealing: {
                    source: "passphrase", path: "/k", from: "fd:3", name: "n", service: "s", account: "a",
                    cipher: "AES-256-GCM", derivation: "Argon2id", iterations: 3, memory: 64,
                },
            },
          },
          domains: { userDefaults: "file", "x.custom": "cache", appGroupFileSystem: "cache" },
          keychain: { service: "com.example" },
          appGroups: { default: "group.com.example", path: "/var/lib/localdata/groups" },
          files: { subDirectory: "My App/x..y" },
          directories: { data: "/d", cache: "/c" },
          app: { version: "1.2.3" },
          device: { role: "phone" },
          log: { level: "off" },
        }
        """

    @Test("a configuration with every setting is accepted")
    func whole() throws {
        #expect(try problems(Self.whole) == [])
        #expect(try problems("{}") == [])
        #expect(try problems("") == [])
    }

    @Test("every setting with a value of the wrong type is refused at the value's position")
    func wrongKinds() throws {
        let document = try ConfigurationDocument(text: Self.whole, source: "c.json")
        let configuration = LayeredConfiguration(layers: [ConfigurationLayer(.user, document)])
        for path in configuration.origins.keys where !path.contains("options") {
            let edited = try document.setting(.bool(true), at: path)
            let problems = ConfigurationSchema.host.validate(edited)
            try #require(problems.count == 1, "\(path): \(problems)")
            #expect(problems[0].path == path)
            #expect(problems[0].message.hasSuffix("found true"), "\(problems[0])")
            let place = try #require(edited.valuePlace(of: path))
            #expect(problems[0].origin.line == place.line && problems[0].origin.column == place.column)
        }
    }

    @Test(
        "a problem names position, path, expected and found",
        arguments: [
            (
                "{ log: { level: 'warnig' } }",
                "c.json:1:17: log.level: expected one of \"debug\", \"info\", \"warning\", "
                    + "\"error\", \"off\", found \"warnig\" (did you mean \"warning\"?)"
            ),
            (
                "{ device: { role: 'tablet' } }",
                "device.role: expected one of \"all\", \"phone\", \"watch\", found \"tablet\""
            ),
            ("{ plugin: {} }", "c.json:1:3: plugin: unknown key (did you mean 'plugins'?)"),
            (
                "{ stores: { a: { componet: 'm' } } }",
                "c.json:1:18: stores.a.componet: unknown key (did you mean 'component'?)"
            ),
            (
                "{ xyz: 1 }",
                "xyz: unknown key (known here: plugins, stores, catalogs, domains, keychain, encryption, appGroups, files, "
                    + "directories, app, migrations, sync, device, log)"
            ),
            ("{ domains: { userDefault: 'f' } }", "domains.userDefault: unknown domain (did you mean 'userDefaults'?"),
            ("{ domains: { Keychian: 'f' } }", "domains.Keychian: unknown domain (did you mean 'keychain'?"),
            ("{ domains: { '1x': 'f' } }", "domains.1x: the name is not usable (expected a letter, then"),
            ("{ domains: { 'é': 'f' } }", "domains.é: the name is not usable"),
            ("{ stores: { 'a b': { component: 'm' } } }", "stores.\"a b\": the name is not usable"),
            (
                "{ domains: { x: { custom: 'cache' } } }",
                "(a domain with a dot in its name stands in quotes: domains.\"x.custom\")"
            ),
            ("{ domains: { x: 'no name' } }", "domains.x: expected a name (a letter, then at most 63"),
            (
                "{ plugins: { path: ['/a', 'b'] } }",
                "c.json:1:27: plugins.path.1: expected an absolute path, found \"b\""
            ),
            ("{ plugins: { path: '/a' } }", "plugins.path: expected an array of absolute paths, found a string"),
            (
                "{ plugins: { timeout: 0 } }",
                "plugins.timeout: expected a number of seconds more than 0 and at most 3600, found 0"
            ),
            ("{ plugins: { timeout: -0.5 } }", "at most 3600, found -0.5"),
            ("{ plugins: { timeout: 1e99 } }", "at most 3600, found 1e+99"),
            ("{ plugins: { timeout: '5' } }", "at most 3600, found a string"),
            ("{ stores: { a: { concurrency: 65 } } }", "expected a whole number from 1 to 64, found 65"),
            ("{ stores: { a: { concurrency: 1.5 } } }", "expected a whole number from 1 to 64, found a number"),
            ("{ stores: { a: { options: null } } }", "stores.a.options: expected an object, found null"),
            ("{ stores: { a: 'memory' } }", "stores.a: expected an object, found a string"),
            (
                "{ stores: { a: { sealing: [] } } }",
                "expected null, an object, or one of \"keyFile\", \"passphrase\", \"credential\", \"keychain\", "
                    + "\"provider\", found an array"
            ),
            ("{ files: { subDirectory: '../x' } }", "expected a relative path without '..', found \"../x\""),
            ("{ files: { subDirectory: '/x' } }", "expected a relative path without '..', found \"/x\""),
            ("{ keychain: { service: '' } }", "keychain.service: expected a string that is not empty, found \"\""),
            ("{ app: null }", "app: expected an object, found null"),
        ])
    func messages(text: String, expected: String) throws {
        let problems = try problems(text)
        #expect(
            problems.count == 1 && problems[0].hasPrefix("c.json:1:") && problems[0].contains(expected), "\(problems)")
    }

    @Test("a path that C would cut short is refused, wherever it comes from")
    func nulInPath() throws {
        let layers = [ConfigurationLayer(.code, source: "code", value: .object([:]))]
        let configuration = try LayeredConfiguration(layers: layers)
            .setting(.array([.string("/a\u{0}b")]), at: ["plugins", "path"])
        let problems = ConfigurationSchema.host.validate(configuration).map(\.description)
        #expect(problems == [#"code: plugins.path.0: expected an absolute path, found "/a\u0000b""#])
    }

    @Test("all problems are reported, in the order of the text")
    func all() throws {
        let problems = try problems("{\n z: 1,\n log: { level: 3, x: 1 },\n a: 1,\n}")
        #expect(problems.map { String($0.prefix(10)) } == ["c.json:2:2", "c.json:3:1", "c.json:3:1", "c.json:4:2"])
        let document = try ConfigurationDocument(text: "{ x: 1, y: 2 }", source: "c.json")
        let error = try #require(ConfigurationProblem.error(for: ConfigurationSchema.host.validate(document)))
        #expect(error.code == .invalidConfiguration)
        #expect(error.message.split(separator: "\n").count == 2)
        #expect(ConfigurationProblem.error(for: []) == nil)
    }

    @Test(
        "a name that equals a known domain, or is far from all, is a domain",
        arguments: ConfigurationName.knownDomains + ["x", "k", "com.example", "keys"])
    func domains(name: String) throws {
        #expect(try problems("{ domains: { '\(name)': 'file' } }") == [])
    }

    @Test("names have at most 64 characters")
    func nameLength() {
        #expect(ConfigurationName.isValid(String(repeating: "a", count: 64)))
        #expect(!ConfigurationName.isValid(String(repeating: "a", count: 65)))
        for name in ["", ".a", "-a", "_a", "a/b", "a b", "a\n", "@", "[", "`"] {
            #expect(!ConfigurationName.isValid(name))
        }
    }

    @Test("a component may come from another layer, but must come from one")
    func required() throws {
        let first = try ConfigurationDocument(text: "{ stores: { a: { component: 'm' } } }", source: "1")
        let second = try ConfigurationDocument(
            text: "{ stores: { a: { timeout: 3 },\n b: { timeout: 3 } } }", source: "2")
        let configuration = LayeredConfiguration(layers: [
            ConfigurationLayer(.system, first), ConfigurationLayer(.user, second),
        ])
        let problems = ConfigurationSchema.host.validate(configuration)
        try #require(problems.count == 1)
        #expect(problems[0].path == ["stores", "b", "component"])
        #expect("\(problems[0])".hasPrefix("2:2:2: stores.b.component: expected a name"))
    }

    @Test("the problems of flags and code name the flag and the code")
    func flags() throws {
        let flag = try ConfigurationLayer(assignment: "log.level=loud")
        let configuration = try LayeredConfiguration(layers: [flag]).setting(.integer(1), at: ["log", "levle"])
        let problems = ConfigurationSchema.host.validate(configuration).map(\.description)
        #expect(problems.count == 2)
        #expect(problems.first?.hasPrefix("flag -c log.level=loud: log.level: expected one of") == true)
        #expect(problems.last == "code: log.levle: unknown key (did you mean 'level'?)")
    }

    @Test("the built-in defaults obey the rules, and every key has a help text")
    func defaults() {
        let schema = ConfigurationSchema.host
        #expect(schema.validate(ConfigurationLayer(.default, source: "default", value: schema.defaults)) == [])
        for rule in schema.rules {
            #expect(!rule.help.isEmpty)
            if let value = rule.defaultValue { #expect(rule.kind.fault(in: value) == nil, "\(rule.pattern)") }
        }
        #expect(schema.defaults[["log", "level"]] == .string("warning"))
        #expect(schema.defaultValue(at: ["stores", "any", "timeout"]) == .integer(10))
        #expect(schema.defaultValue(at: ["stores", "any", "component"]) == nil)
    }
}
