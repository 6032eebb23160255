import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("An app reads the values that ld-host stores")
struct ReadableValuesTests {
    private let home: Home

    init() throws { home = try Home() }

    private struct Stored: Decodable, Equatable {
        let contentType: String?
        let serializer: String?
        let text: String?
        let base64: String?
    }

    private func stored(_ address: String) throws -> Stored {
        try JSONDecoder().decode(Stored.self, from: Data(try home.done("get", address, "--json").output))
    }

    /// Stores a typed text, and reads the value as an app does.
    private func typed<Value>(_ text: String, _ key: StorageKey<Value>, _ options: String...) async throws -> Value {
        let words = ["set"] + options + ["--", "\(key.domain)/\(key.name)", text]
        let ending = try home.run(BuiltProducts.host, words)
        try #require(ending.status == 0, "\(ending.errors)")
        return try await home.app().get(key)
    }

    @Test("a text is recorded as text, and a key whose values are texts reads it", arguments: ["sqlite", "file"])
    func text(_ component: String) async throws {
        try home.done("config", "set", "domains.userDefaults", component)
        for text in ["dark", "", "5", "true", "{", "two\nlines", "\u{1F642} \\ /"] {
            try home.done("set", "userDefaults/theme", text)
            let router = try home.app()
            try await router.configure("domains.userDefaults", AnyCodable(.string(component)))
            #expect(try await router.get(AppKeys.theme) == text)
            #expect(try home.done("get", "userDefaults/theme").text == text)
        }
        #expect(
            try stored("userDefaults/theme")
                == Stored(contentType: "text/plain", serializer: "text", text: "\u{1F642} \\ /", base64: nil))
        try home.done("config", "set", "domains.userDefaults", "sqlite")
        #expect(try await typed("wild", AppKeys.mood) == .wild)
        #expect(try await typed("17", AppKeys.size) == 17)
        #expect(try await typed("x", AppKeys.note) == "x")
        #expect(try await typed("x", AppKeys.raw) == Data("x".utf8))
    }

    @Test("a key of another type does not, and the error says what the bytes are recorded as")
    func otherType() async throws {
        try home.done("set", "userDefaults/size", "abc")
        let router = try home.app()
        let error = try await #require(throws: StorageError.self) { try await router.get(AppKeys.size) }
        #expect(error.code == .deserializationFailed)
        #expect(error.message.contains("'userDefaults/size'") && error.message.contains("not an Int in json"))
        #expect(error.message.hasSuffix("; they are recorded as 'text/plain'"))
        #expect(try home.done("get", "userDefaults/size").text == "abc")
        try home.done("set", "userDefaults/note", "--stdin", input: [0xFF])
        let other = try await #require(throws: StorageError.self) { try await router.get(AppKeys.note) }
        #expect(
            other.message.hasSuffix(
                "not a String in text: they are not UTF-8; they are recorded as 'application/octet-stream'"))
    }

    @Test("a secret in a sealed store is recorded as text, too, and one that another program sends through the pipe")
    func secret() async throws {
        try home.done("set", "keychain:app/token", "--stdin", "--text", input: Array("s3cret".utf8))
        #expect(try await home.app().get(AppKeys.token) == "s3cret")
        let header = #"{"id":1,"op":"set","domain":"keychain","scope":"app","name":"token","form":"text"}"#
        let (answers, _) = try home.pipe(PipeExchange.frame(header, Array("other".utf8)))
        #expect(answers.first?.text == #"{"id":1}"#)
        #expect(try await home.app().get(AppKeys.token) == "other")
    }

    @Test("with a catalog a text is encoded by the key's type and serializer")
    func described() async throws {
        try home.describeKeys()
        #expect(try await typed("dark", AppKeys.theme) == "dark")
        #expect(try home.done("get", "userDefaults/theme").text == "\"dark\"")
        #expect(try stored("userDefaults/theme").contentType == "application/json")
        #expect(try await typed("\"dark\"", AppKeys.theme) == "\"dark\"")
        #expect(try await typed("-5", AppKeys.size) == -5)
        #expect(try await typed("127", AppKeys.small) == 127)
        #expect(try await typed("18446744073709551615", AppKeys.large) == .max)
        #expect(try await typed("0.1", AppKeys.ratio) == 0.1)
        #expect(try await typed("true", AppKeys.isOn))
        #expect(try await typed("2001-01-01T00:01:00Z", AppKeys.start) == Date(timeIntervalSinceReferenceDate: 60))
        #expect(try await typed("AP8=", AppKeys.blob) == Data([0, 255]))
        #expect(try await typed("https://example.com/a?b=c", AppKeys.link) == URL(string: "https://example.com/a?b=c"))
        let id = UUID()
        #expect(try await typed(id.uuidString, AppKeys.id) == id)
        #expect(try await typed("3", AppKeys.limit) == 3)
        #expect(try await typed("null", AppKeys.limit) == nil)
        #expect(try await typed(#"["a", "b"]"#, AppKeys.names) == ["a", "b"])
        #expect(try await typed(#"{"a": 1}"#, AppKeys.counts) == ["a": 1])
        #expect(try stored("userDefaults/counts").contentType == "application/x-plist")
        #expect(try await typed(#""calm""#, AppKeys.mood) == .calm)
        #expect(try await typed("a \"note\"", AppKeys.note) == "a \"note\"")
        #expect(try home.done("get", "userDefaults/note").text == "a \"note\"")
        #expect(try await typed("raw", AppKeys.raw) == Data("raw".utf8))
        try home.done("set", "keychain:app/token", "--stdin", "--text", input: Array("s3\"cret".utf8))
        #expect(try await home.app().get(AppKeys.token) == "s3\"cret")
    }

    @Test(
        "with a catalog, an unsuitable value is refused with the key's type and what it accepts, and is not shown",
        arguments: [
            ("size", "--text", "s3cret", "'Int'", "give a whole number"),
            ("small", "--text", "128", "'Int8'", "give a whole number"),
            ("large", "--text", "-1", "'UInt64'", "give a whole number"),
            ("ratio", "--text", "much", "'Double'", "give a number"),
            ("isOn", "--text", "yes", "'Bool'", "give true or false"),
            ("start", "--text", "today", "'Date'", "give a time such as 2030-12-31T23:59:59Z"),
            ("blob", "--text", "***", "'Data'", "give bytes in base64"),
            ("id", "--text", "5", "'UUID'", "give a UUID"),
            ("names", "--text", "[1]", "'Array<String>'", "give JSON of that type"),
            ("counts", "--text", "[]", "'Dictionary<String, Int>'", "give JSON of that type"),
            ("mood", "--text", "calm", "'Mood'", "give JSON, in which a text has quotes"),
            ("profile", "--text", "{}", "'Profile'", "give the property list itself with --file or --stdin"),
            ("own", "--text", "x", "only the app has the key's serializer", "give its own bytes with --data"),
            ("theme", "--json", "dark", "'String'", "give text"),
            ("size", "--json", "\"5\"", "'Int'", "give a whole number"),
            ("note", "--json", "5", "is not a JSON string", "give it with --text"),
            ("theme", "--stdin", "dark", "is not json of the type 'String'", "give text with --text"),
            ("counts", "--stdin", "{\"a\": 1}", "is not plist of the type 'Dictionary<String, Int>'", "with --text"),
        ])
    func refused(_ name: String, _ form: String, _ value: String, _ message: String, _ hint: String) throws {
        try home.describeKeys()
        let address = "userDefaults/\(name)"
        let ending =
            form == "--stdin"
            ? try home.run("set", address, form, input: Array(value.utf8))
            : try home.run("set", form, "--", address, value)
        #expect(ending.status == 2)
        #expect(ending.errors.contains(message) && ending.errors.contains(hint), "\(ending.errors)")
        #expect(ending.errors.contains("'\(address)'") && !ending.errors.contains("s3cret"))
        #expect(try home.run("exists", address).status == 1)
    }

    @Test("an option states the type of a value")
    func outright() async throws {
        #expect(try await typed(#"{"a":1}"#, AppKeys.theme, "--text") == #"{"a":1}"#)
        #expect(try await typed(#"["a"]"#, AppKeys.names, "--json") == ["a"])
        #expect(try stored("userDefaults/names").serializer == "json")
        let ending = try home.run("set", "userDefaults/names", "--json", "[\"a\"")
        #expect(ending.status == 2 && ending.errors.contains("is not valid JSON"))
        #expect(try home.done("get", "userDefaults/names").text == #"["a"]"#)
        #expect(try await typed("\"d\"", AppKeys.theme, "--data") == "d")
        #expect(try stored("userDefaults/theme").serializer == "data")
        #expect(try home.run("set", "userDefaults/theme", "--text", "--data", "x").status == 64)
        #expect(try home.run("set", "userDefaults/theme", "--text", "--stdin", input: [0xFF]).status == 2)
        try home.describeKeys()
        #expect(try await typed("\"d\"", AppKeys.theme, "--json") == "d")
        #expect(try await typed("\"d\"", AppKeys.note, "--json") == "d")
        #expect(try await typed(#"{"a":2}"#, AppKeys.counts, "--json") == ["a": 2])
        #expect(try await typed("fedcba", AppKeys.own, "--data") == "abcdef")
        #expect(try stored("userDefaults/own").serializer == "custom")
    }
}
