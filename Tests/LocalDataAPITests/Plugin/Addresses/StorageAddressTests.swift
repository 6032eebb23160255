import LocalDataAPI
import Testing

@Suite struct StorageAddressTests {
    static let texts: [(String, String, String?, String?)] = [
        ("userDefaults/theme", "userDefaults", nil, "theme"), ("userDefaults", "userDefaults", nil, nil),
        ("userDefaults/", "userDefaults", nil, ""), ("userDefaults:", "userDefaults", "", nil),
        ("userDefaults:/x", "userDefaults", "", "x"),
        ("keychain:com.example/token", "keychain", "com.example", "token"),
        ("fileSystem:%2Fsrv%2Fdata/a/b", "fileSystem", "/srv/data", "a/b"), ("d:50%25/x", "d", "50%", "x"),
        ("d:%252F/x", "d", "%2F", "x"), ("d:%2f%25%2F/x", "d", "/%/", "x"), ("d:a:b/c:d", "d", "a:b", "c:d"),
        ("d/%zz", "d", nil, "%zz"), ("d//", "d", nil, "/"), ("d/é:ü/", "d", nil, "é:ü/"), ("d:é/n", "d", "é", "n"),
        // A letter before a combining mark is still the letter's byte: the mark belongs to the name.
        ("d/\u{301}x", "d", nil, "\u{301}x"), ("d:\u{301}/x", "d", "\u{301}", "x"),
    ]

    @Test("a text is split at its first colon and slash, and only %2F and %25 are escapes", arguments: texts)
    func parts(_ text: String, _ domain: String, _ scope: String?, _ name: String?) throws {
        let parts = try StorageAddress.parts(of: text)
        #expect(parts.domain == domain)
        #expect(parts.scope.map { Array($0.utf8) } == scope.map { Array($0.utf8) })
        #expect(parts.name.map { Array($0.utf8) } == name.map { Array($0.utf8) })
    }

    @Test(
        "a text without a domain or with a stray escape is refused with the text",
        arguments: ["", "/", ":", "/x", ":scope/x", "d:%/x", "d:%2/x", "d:%GG/x", "d:a%/x", "d:%2", "d:%%2F/x"])
    func refuses(_ text: String) throws {
        let error = try #require(throws: StorageError.self) { try StorageAddress.parts(of: text) }
        #expect(error.code == .invalidAddress && error.message.contains("'\(text)'") && !error.hint.isEmpty)
    }

    static let scopes = ["", "plain", "/", "%", "//", "%2F", "%25", "/a/b%c", "a:b", "é/ü", "%/%/", ":"]

    @Test(
        "a printed address is parsed to the same address", arguments: scopes,
        ["n", "/", "a/b", "%2F", ":", "é", "e\u{301}"])
    func roundTrip(_ scope: String, _ name: String) throws {
        let address = StorageAddress(StorageNamespace(domain: "own", scope: scope), name: name)
        let parts = try StorageAddress.parts(of: "\(address)")
        #expect(
            StorageAddress(StorageNamespace(domain: parts.domain, scope: parts.scope ?? ""), name: parts.name ?? "")
                == address)
    }

    @Test("two spellings of one letter are two addresses")
    func bytes() {
        let place = StorageNamespace(domain: "d")
        let composed = StorageAddress(place, name: "é")
        let decomposed = StorageAddress(place, name: "e\u{301}")
        #expect("é" == "e\u{301}")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, composed]).count == 2)
        #expect(StorageNamespace(domain: "d", scope: "é") != StorageNamespace(domain: "d", scope: "e\u{301}"))
        #expect(StorageNamespace(domain: "d", directory: "/a") == StorageNamespace(domain: "d", directory: "/b"))
    }

    static let invalid: [(String, String, String)] = [
        ("d", "", ""), ("d", "", "a\0b"), ("d", "", String(repeating: "x", count: 1025)), ("", "", "n"),
        ("a b", "", "n"),
        ("dömain", "", "n"), ("a/b", "", "n"), (String(repeating: "d", count: 65), "", "n"), ("d", "a\0", "n"),
        ("d", String(repeating: "é", count: 513), "n"),
    ]

    @Test("an address outside the limits that stores rely on is refused", arguments: invalid)
    func limits(_ domain: String, _ scope: String, _ name: String) throws {
        let address = StorageAddress(StorageNamespace(domain: domain, scope: scope), name: name)
        let error = try #require(throws: StorageError.self) { try address.validate() }
        #expect(error.code == .invalidAddress && !error.hint.isEmpty)
    }

    @Test("an address at the limits is not refused")
    func atTheLimits() throws {
        let place = StorageNamespace(
            domain: String(repeating: "d", count: 64), scope: String(repeating: "é", count: 512))
        try StorageAddress(place, name: String(repeating: "😀", count: 256)).validate()
    }
}
