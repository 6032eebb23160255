import FoundationEssentials
import Testing

@testable import LocalDataAPI

@Suite("A coding error") struct CodingFailureTests {
    enum Theme: String, Codable, Equatable { case light, dark }
    struct Settings: Codable, Equatable {
        var theme: Theme
        var sizes: [String: Int]
        var level: UInt8
        var id: UUID?
        var scale = 1.0
    }

    private static func document(
        theme: String = "\"dark\"", sizes: String = "{}", level: String = "1", id: String = "null"
    ) -> String {
        "{\"id\":\(id),\"level\":\(level),\"scale\":0.5,\"sizes\":\(sizes),\"theme\":\(theme)}"
    }

    static let refused: [(json: String, reason: String)] = [
        (document(theme: "\"hunter2\""), "expected a case of Theme at theme, found a text"),
        (document(theme: "5"), "expected String at theme, found a whole number"),
        (document(sizes: "{\"a\":1,\"b\":1.25}"), "expected Int at sizes.b, found a number with a fraction"),
        (document(sizes: "{\"a\":\"hunter2\"}"), "expected Int at sizes.a, found a text"),
        (document(level: "300"), "expected UInt8 at level, found a whole number"),
        (document(level: "-1"), "expected UInt8 at level, found a whole number"),
        (document(id: "\"hunter2\""), "expected a UUID at id, found a text"),
        (document(level: "null"), "no UInt8 at level"), ("{}", "no member 'theme' at the top"),
        ("{\"theme\":", "not well formed at the top"),
    ]

    @Test("names the member, what was expected and what was found, and no value", arguments: refused)
    func settings(_ json: String, _ reason: String) throws {
        let error = try #require(throws: StorageError.self) { try Serializer<Settings>.json.decode(Data(json.utf8)) }
        #expect(error.message.hasSuffix("Settings in json: \(reason)"), "\(error.message)")
        #expect(!"\(error)".contains("hunter2") && !"\(error)".contains("1.25") && !"\(error)".contains("300"))
    }

    @Test("says so of a value as a whole") func values() throws {
        func reason<Value: Codable & Sendable>(_ type: Value.Type, _ json: String) throws -> String {
            try #require(throws: StorageError.self) { try Serializer<Value>.json.decode(Data(json.utf8)) }.message
        }
        #expect(try reason(Int.self, "123.45").hasSuffix("expected Int at the top, found a number with a fraction"))
        #expect(try reason(Theme.self, "\"auto\"").hasSuffix("expected a case of Theme at the top, found a text"))
        #expect(
            try reason([String: Int].self, "{\"a\":0.5}").hasSuffix("expected Int at a, found a number with a fraction")
        )
        #expect(try reason([Int].self, "[1,1.5]").hasSuffix("expected Int at [1], found a number with a fraction"))
        #expect(try reason(String.self, "12").hasSuffix("expected String at the top, found a whole number"))
    }

    @Test("of a property list names the member, too") func propertyLists() throws {
        let plist = try Serializer<[String: Double]>.plist.encode(["level": 1.5])
        let error = try #require(throws: StorageError.self) { try Serializer<[String: Int]>.plist.decode(plist) }
        #expect(error.message.contains("expected Int at level, found a number with a fraction"), "\(error.message)")
        let top = try #require(throws: StorageError.self) { try Serializer<String>.plist.encode("hunter2") }
        #expect(top.message == "a String could not be encoded as plist: a String at the top cannot be encoded")
        #expect(top.hint.contains("choose the serializer json"))
    }

    @Test("of a key names the key in reading and in writing") func keys() throws {
        let key = StorageKey<Int>(
            name: "size", domain: .userDefaults(), security: .none, serializer: .plist, owner: "tests", description: "")
        let writing = try #require(throws: StorageError.self) { try key.encode(5) }
        #expect(writing.message.hasPrefix("'userDefaults/size': an Int could not be encoded"), "\(writing.message)")
        let reading = try #require(throws: StorageError.self) { try key.decode(Data("x".utf8)) }
        #expect(reading.message.hasPrefix("'userDefaults/size': 1 stored bytes are not an Int"), "\(reading.message)")
    }
}
