import FoundationEssentials
import Testing

@Suite("A moved secret at its old location") struct WipingTests {
    private let home: Home

    init() throws { home = try Home() }

    /// The files below the home's data that contain a text.
    private func files(holding text: String) throws -> [String] {
        let manager = FileManager.default
        return try manager.subpathsOfDirectory(atPath: "\(home.path)/data").filter { path in
            let content = manager.contents(atPath: "\(home.path)/data/\(path)")
            return content?.firstRange(of: Data(text.utf8)) != nil
        }.sorted()
    }

    /// Stores a value several times, among other values.
    private func store(in domain: String = "userDefaults") throws -> String {
        let secret = "PLAINTOKEN"
        for size in [1, 500, 3, 60_000, 1] {
            try home.done(
                "set", "\(domain)/token", "--stdin", input: Array(String(repeating: secret, count: size).utf8))
            for other in 0..<5 { try home.done("set", "\(domain)/other-\(other)", "value \(size)") }
        }
        #expect(try !files(holding: secret).isEmpty)
        return secret
    }

    private func configure(grace: Int) throws {
        try home.done(
            "config", "set", "migrations.packs.app",
            """
            {"component": "standard", "options": {"manifest": [
                {"id": "token", "move": {"from": "userDefaults/token", "to": "keychain:com.example/token"}}]}}
            """)
        try home.done("config", "set", "migrations.grace", "\(grace)")
    }

    @Test("a migration to the keychain wipes it, at once or when it is confirmed", arguments: [0, 30])
    func migrated(_ grace: Int) throws {
        let secret = try store()
        try configure(grace: grace)
        try home.done("migrate", "run")
        if grace > 0 {
            #expect(try files(holding: secret) != [])
            let status = try home.done("migrate", "status").text
            #expect(
                status.contains(
                    "  may still be in plain text in its former store's files, until it is confirmed: "
                        + "userDefaults/token\n"))
            try home.done("migrate", "confirm", "token")
        }
        #expect(try files(holding: secret) == [])
        #expect(try home.done("migrate", "status").text.contains("in plain text") == false)
        #expect(try home.done("get", "keychain:com.example/token").text == secret)
        #expect(try home.done("get", "userDefaults/other-4").text == "value 1")
    }

    @Test("a copy with --move to a sealed store wipes the moved values", arguments: ["sqlite", "file"])
    func copied(_ from: String) throws {
        try home.done("config", "set", "domains.userDefaults", from)
        let secret = try store()
        try home.done("config", "set", "stores.vault.component", "sqlite")
        try home.done("config", "set", "stores.vault.options.path", "${data}/vault.sqlite")
        try home.done("config", "set", "stores.vault.sealing", "keyFile")
        try home.done("store", "copy", from, "vault", "--move")
        #expect(try files(holding: secret) == [])
        try home.done("config", "set", "domains.userDefaults", "vault")
        #expect(try home.done("get", "userDefaults/token").text == secret)
    }
}
