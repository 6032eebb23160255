import Foundation
import TestSupport
import Testing

/// A secret option that the keychain holds.
@Suite("A password in the keychain", .serialized)
struct SecretOptionTests {
    private static let password = PostgreSQLServer.password
    private let server: PostgreSQLServer
    private let home: Home

    init() throws {
        server = try PostgreSQLServer.shared.get()
        home = try Home()
        try home.done("config", "set", "stores.shared.component", "postgresql")
        try home.done("config", "set", "stores.shared.options.uri", server.uri("secret"))
        try home.done("config", "set", "stores.shared.options.schema", "keyed_\(UInt32.random(in: 0 ... .max))")
        try home.done("config", "set", "domains.userDefaults", "shared")
    }

    /// All files of the home that contain the password.
    private func filesWithPassword() throws -> String {
        try home.shell("grep -rlaF '\(Self.password)' . || true").text
    }

    @Test("opens the store, and is in no file, output or message")
    func opens() throws {
        try home.done("set", "keychain:app/database", "--stdin", input: Array("\(Self.password)\n".utf8))
        try home.done("config", "set", "stores.shared.options.password", "keychain:app/database")
        try home.done("set", "userDefaults/theme", "dark")
        #expect(try home.done("get", "userDefaults/theme").text == "dark")
        var said = try home.done("store", "test", "shared").text
        for words in [["config", "show"], ["config", "show", "--json"], ["doctor", "--verbose"], ["audit"]] {
            let ending = try home.run(BuiltProducts.host, words)
            said += ending.text + ending.errors
        }
        #expect(said.contains("keychain:app/database") && !said.contains(Self.password), "\(said)")
        #expect(try filesWithPassword() == "")
    }

    @Test("is read as text, however an app's key has encoded it")
    func coded() throws {
        try home.done("config", "set", "stores.shared.options.password", "keychain:app/database", "--anyway")
        try home.done("set", "keychain:app/database", "--json", "--stdin", input: Array("\"\(Self.password)\"".utf8))
        try home.done("set", "userDefaults/theme", "dark")
    }

    @Test("is missing, empty or not text: the error names option and address, and other domains keep working")
    func missing() throws {
        try home.done("config", "set", "stores.shared.options.password", "keychain:app/database", "--anyway")
        for (bytes, reason) in [
            (nil, "has no value"), ([], "is empty or not text"), ([0xff, 0xfe], "is empty or not text"),
        ] as [([UInt8]?, String)] {
            if let bytes { try home.done("set", "keychain:app/database", "--stdin", input: bytes) }
            let ending = try home.run("get", "userDefaults/theme")
            #expect(ending.status != 0)
            #expect(
                ending.errors.contains("option 'password'")
                    && ending.errors.contains("'keychain:app/database', which \(reason)")
                    && ending.errors.contains("ld-host set keychain:app/database"), "\(ending.errors)")
            try home.done("set", "fileSystem/other", "works")
        }
    }

    @Test("is not named: the error names the options that it can be named in")
    func unnamed() throws {
        home.add("PGPASSFILE", "\(home.path)/none")
        let ending = try home.run("get", "userDefaults/theme")
        #expect(ending.status == 2 && ending.errors.contains("no password supplied"), "\(ending.errors)")
        let hint = "hint: name a value of the keychain in option 'password', or a file in option 'passwordFile'"
        #expect(ending.errors.contains(hint), "\(ending.errors)")
    }

    @Test("is wrong, and no error repeats it")
    func wrong() throws {
        try home.done("set", "keychain:app/database", "--stdin", input: Array("wrong horse".utf8))
        try home.done("config", "set", "stores.shared.options.password", "keychain:app/database")
        let ending = try home.run("get", "userDefaults/theme")
        #expect(ending.status != 0 && !ending.errors.contains("horse"), "\(ending.errors)")
        #expect(ending.errors.contains("\"secret\""), "\(ending.errors)")
    }

    @Test(
        "is refused in the configuration itself, without repeating it",
        arguments: ["hunter2", "userDefaults/hunter2", "keychain/", "keychain"])
    func literal(_ text: String) throws {
        let ending = try home.run("config", "set", "stores.shared.options.password", text)
        let check = try home.run("config", "validate")
        let said = ending.errors + check.errors + check.text
        #expect(ending.status != 0 || check.status != 0, "\(said)")
        #expect(said.contains("must be the address of a value of the keychain"), "\(said)")
        #expect(!said.contains("hunter2"), "\(said)")
    }

    @Test(
        "is not shown if somebody has written it into the file",
        arguments: [
            ("uri", "postgresql://app:hunter2@localhost/app"), ("uri", "host=x password=hunter2"),
            ("password", "hunter2"),
        ])
    func handWritten(_ option: String, _ text: String) throws {
        let path = "\(home.path)/own.json"
        let file = #"{"stores": {"other": {"component": "postgresql", "options": {"\#(option)": "\#(text)"}}}}"#
        try Data(file.utf8).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
        home.add("LOCALDATA_CONFIG", path)
        let key = "stores.other.options.\(option)"
        for words in [
            ["config", "show"], ["config", "show", "--origin"], ["config", "show", "--json"],
            ["config", "show", "--json", "--origin"], ["config", "get", key], ["config", "get", key, "--json"],
            ["config", "get", "stores"], ["config", "validate"], ["doctor", "--verbose"], ["audit"],
        ] {
            let ending = try home.run(BuiltProducts.host, words)
            #expect(!(ending.text + ending.errors).contains("hunter2"), "\(words): \(ending.text)\(ending.errors)")
        }
        #expect(try home.done("config", "get", key).text.contains("which is not shown"))
    }

    @Test("cannot be one of the host's own keys")
    func reserved() throws {
        try home.done("set", "encryptedFileSystem/secret", "--stdin", input: Array("value".utf8))
        try home.done("config", "set", "stores.shared.options.password", "keychain:LocalData/master", "--anyway")
        let ending = try home.run("get", "userDefaults/theme")
        #expect(ending.status != 0 && ending.errors.contains("it is a key of the host"), "\(ending.errors)")
    }

    @Test("cannot be in the store that it opens")
    func circular() throws {
        try home.done("config", "set", "stores.shared.options.password", "keychain:app/database", "--anyway")
        try home.done("config", "set", "domains.keychain", "shared", "--anyway")
        let ending = try home.run("get", "userDefaults/theme")
        #expect(ending.status != 0 && ending.errors.contains("serves the keychain itself"), "\(ending.errors)")
    }
}
