import FoundationEssentials
import LocalDataAPI
import Testing

@Suite struct SerializerTests {
    struct Account: Codable, Hashable, Sendable {
        var name: String
        var password: String?
        var logins: [Int]
        var limits: [String: Double]
    }

    private let account = Account(
        name: "Zoë / “Ω” 👩‍👩‍👧", password: "hunter2", logins: [0, -1, .max, .min], limits: ["b": 1.5, "a": -0.0])

    @Test("a value comes back from JSON and from a property list")
    func roundTrips() throws {
        let json = Serializer<Account>.json
        #expect(try json.decode(json.encode(account)) == account)
        let plist = Serializer<Account>.plist
        #expect(try plist.decode(plist.encode(account)) == account)
        #expect(try plist.encode(account).starts(with: "bplist00".utf8))
        #expect(json.format == .json && plist.format == .plist)
    }

    @Test("JSON is the same bytes for the same value: sorted keys, unescaped slashes")
    func deterministic() throws {
        let text = String(
            decoding: try Serializer<[String: String]>.json.encode(["b": "x/y", "a": "1", "c": ""]), as: UTF8.self)
        #expect(text == #"{"a":"1","b":"x/y","c":""}"#)
        // A bare value is JSON too (RFC 8259).
        #expect(try Serializer<String>.json.encode("x") == Data("\"x\"".utf8))
        #expect(try Serializer<Int?>.json.decode(Data("null".utf8)) == nil)
    }

    @Test("bytes are stored as they are", arguments: [0, 1, 1 << 20])
    func data(_ count: Int) throws {
        let value = Data(repeating: 0xA5, count: count)
        #expect(try Serializer.data.encode(value) == value)
        #expect(try Serializer.data.decode(value) == value)
        #expect(Serializer.data.format == .data)
    }

    @Test(
        "text is its UTF-8, and other bytes are refused",
        arguments: ["", "dark", "\"quoted\"", "e\u{301} \u{0}"])
    func text(_ value: String) throws {
        let serializer = Serializer<String>.text
        #expect(try serializer.encode(value) == Data(value.utf8))
        #expect(try serializer.decode(Data(value.utf8)).utf8.elementsEqual(value.utf8))
        #expect(serializer.format == .text && serializer.format.contentType == "text/plain")
        let error = try #require(throws: StorageError.self) { try serializer.decode(Data([0xFF])) }
        #expect(error.message == "1 stored bytes are not a String in text: they are not UTF-8")
    }

    @Test("an app's own functions are used, and their errors become storage errors without the value")
    func custom() throws {
        struct Quotes: Error, CustomStringConvertible { let description: String }
        let serializer = Serializer<String>.custom(
            encode: { text in
                guard text != "hunter2" else { throw Quotes(description: text) }
                return Data(text.utf8.reversed())
            },
            decode: { data in
                guard !data.isEmpty else { throw Quotes(description: "hunter2") }
                return String(decoding: data.reversed(), as: UTF8.self)
            })
        #expect(try serializer.encode("abc") == Data("cba".utf8))
        #expect(try serializer.decode(Data("cba".utf8)) == "abc")
        #expect(serializer.format == .custom)
        let encoding = try #require(throws: StorageError.self) { try serializer.encode("hunter2") }
        #expect(encoding.code == .serializationFailed && encoding.message.contains("Quotes"))
        let decoding = try #require(throws: StorageError.self) { try serializer.decode(Data()) }
        #expect(decoding.code == .deserializationFailed && decoding.message.contains("0 stored bytes"))
        for error in [encoding, decoding] { #expect(!"\(error)".contains("hunter2")) }
    }

    static let damaged: [(String, String)] = [
        (#"{"name":"hunter2","logins":[1,"hunter2"],"limits":{}}"#, "logins.[1]"),
        (#"{"name":["hunter2"],"logins":[],"limits":{}}"#, "name"),
        (#"{"password":"hunter2","logins":[],"limits":{}}"#, "no member 'name'"),
        (#"{"name":null,"logins":[],"limits":{}}"#, "name"), (#"{"name":"hunter2""#, "not well formed"),
        ("hunter2", "not well formed"), ("", "not well formed"), (#"["hunter2"]"#, "the top"),
        ("\"hunter2\"", "the top"),
    ]

    @Test("bytes that do not decode are described by position and type, not shown", arguments: damaged)
    func decodingErrors(_ text: String, _ place: String) throws {
        let error = try #require(throws: StorageError.self) { try Serializer<Account>.json.decode(Data(text.utf8)) }
        #expect(error.code == .deserializationFailed)
        #expect(error.message.contains("\(text.utf8.count) stored bytes are not an Account in json"))
        #expect(error.message.contains(place), "in: \(error.message)")
        #expect(error.hint.contains("untouched"))
        #expect(!"\(error)".contains("hunter2"))
    }

    @Test("a value that does not encode is described by position and type, not shown")
    func encodingErrors() throws {
        var account = account
        account.limits = ["hunter2 is a key": .infinity]
        let json = try #require(throws: StorageError.self) { try Serializer<Account>.json.encode(account) }
        #expect(
            json.code == .serializationFailed && json.message.contains("Account") && json.message.contains("Double"))
        #expect(!"\(json)".contains("inf"))
        // The root of a property list must be an array or a dictionary.
        let plist = try #require(throws: StorageError.self) { try Serializer<String>.plist.encode("hunter2") }
        #expect(plist.code == .serializationFailed && !"\(plist)".contains("hunter2"))
    }
}
