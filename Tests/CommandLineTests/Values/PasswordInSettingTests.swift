import FoundationEssentials
import TestSupport
import Testing

@Suite("A password in a setting that is no secret")
struct PasswordInSettingTests {
    private let home: Home
    private var file: String { "\(home.path)/config/localdata/config.json" }

    init() throws {
        home = try Home()
        try home.done("config", "set", "stores.pg.component", "postgresql")
    }

    static let uris = [
        "postgresql://user:hunter2@host/db", "postgresql://host/db?password=hunter2", "host=h password=hunter2",
        "postgresql://host/db?sslmode=verify-full&sslpassword=hunter2", "postgresql://host/db?pass%77ord=hunter2",
        "postgresql://user:hunter2@one,two/db", "host=h password = 'hunter2'",
    ]

    @Test("is not written, and not repeated", arguments: uris)
    func set(_ uri: String) throws {
        let ending = try home.run("config", "set", "stores.pg.options.uri", uri)
        #expect(ending.status == 2, "\(ending.errors)")
        #expect(
            ending.errors.contains("stores.pg.options.uri") && ending.errors.contains("contains a password"),
            "\(ending.errors)")
        #expect(ending.errors.contains("hint: ") && ending.errors.contains("option 'password'"), "\(ending.errors)")
        #expect(!(ending.text + ending.errors).contains("hunter2"), "\(ending.errors)")
        #expect(try !String(contentsOfFile: file, encoding: .utf8).contains("hunter2"))
    }

    @Test("is found by validate in a file and by every command in a flag; no message repeats it", arguments: uris)
    func found(_ uri: String) throws {
        try home.done("config", "set", "domains.userDefaults", "pg")
        let flag = "stores.pg.options.uri=\(uri)"
        for words in [["get", "userDefaults/a", "-c", flag], ["config", "validate", "-c", flag]] {
            let ending = try home.run(BuiltProducts.host, words)
            let said = ending.text + ending.errors
            #expect(ending.status != 0 && said.contains("'uri' contains a password"), "\(words[0]): \(said)")
            #expect(!said.contains("hunter2"), "\(words[0]): \(said)")
        }
        let text = "{ stores: { pg: { component: \"postgresql\", options: { uri: \"\(uri)\" } } } }"
        try Data(text.utf8).write(to: URL(filePath: file))
        let ending = try home.run("config", "validate")
        let said = ending.text + ending.errors
        #expect(ending.status != 0 && said.contains("stores.pg.options.uri"), "\(said)")
        #expect(!said.contains("hunter2"), "\(said)")
    }

    @Test(
        "is not what a URI without one has",
        arguments: [
            "postgresql://user@host/db", "postgresql:///db?host=/run/postgresql", "postgresql://host:5432/db?user=a@b",
            "postgresql://[::1]:5432/db", "postgresql://host/db?passfile=/etc/pass",
        ])
    func accepted(_ uri: String) throws { try home.done("config", "set", "stores.pg.options.uri", uri) }

    @Test("a schema that the store would refuse is refused at once", arguments: ["No", "pg_own", "a-b", ""])
    func schema(_ name: String) throws {
        let ending = try home.run("config", "set", "stores.pg.options.schema", name)
        #expect(ending.status == 2 && ending.errors.contains("option 'schema' is '\(name)'"), "\(ending.errors)")
        #expect(ending.errors.contains("expected the schema that holds the tables"), "\(ending.errors)")
        #expect(try !String(contentsOfFile: file, encoding: .utf8).contains("schema"))
    }
}
