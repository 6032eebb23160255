import FoundationEssentials
import LocalDataAPI
import Testing

@Suite struct ComponentOptionsTests {
    @Test("options are read from a JSON object, each by its kind")
    func kinds() throws {
        let json = #"{"text":"x","path":"/a","count":-3,"whole":2.0,"ratio":0.5,"on":true,"absent":null}"#
        let options = try ComponentOptions(json: Data(json.utf8))
        #expect(try options.string("text") == "x")
        #expect(try options.string("path") == "/a")
        #expect(try options.integer("count") == -3)
        #expect(try options.integer("whole") == 2)
        #expect(try options.number("ratio") == 0.5)
        #expect(try options.number("count") == -3)
        #expect(try options.boolean("on"))
        #expect(options.contains("on") && !options.contains("absent") && !options.contains("other"))
    }

    @Test("a list has values of any kind, as they were written")
    func list() throws {
        let options = try ComponentOptions(json: Data(#"{"list":[1,"x",null,{"a":[0.5,true]}],"none":[]}"#.utf8))
        #expect(try options.list("list") == [1, "x", nil, ["a": [0.5, true]]])
        #expect(try options.list("none") == [])
        let error = try #require(throws: StorageError.self) { _ = try options.string("list") }
        #expect(error.message == "option 'list' is a list; expected text")
    }

    @Test("an option that is missing or of another kind is named, with what was expected")
    func mismatch() throws {
        let options = ComponentOptions(["text": .string("x"), "on": .boolean(true), "ratio": .number(0.5)])
        let calls: [(String, String, () throws -> Void)] = [
            ("missing", "is missing", { _ = try options.string("missing") }),
            ("on", "expected text", { _ = try options.string("on") }),
            ("text", "expected a whole number", { _ = try options.integer("text") }),
            ("ratio", "expected a whole number", { _ = try options.integer("ratio") }),
            ("on", "expected a number", { _ = try options.number("on") }),
            ("ratio", "expected true or false", { _ = try options.boolean("ratio") }),
            ("text", "expected a list", { _ = try options.list("text") }),
        ]
        for (name, reason, call) in calls {
            let error = try #require(throws: StorageError.self) { try call() }
            #expect(error.code == .invalidOptions)
            #expect(error.message.contains("'\(name)'") && error.message.contains(reason))
        }
    }

    @Test("a number beyond its limits is refused with the limits and their unit")
    func limits() throws {
        let options = ComponentOptions(["poll": .integer(0), "timeout": .number(0.5), "size": .integer(4096)])
        #expect(try options.integer("size", in: 1...4096) == 4096)
        #expect(try options.number("timeout", in: 0.5...60) == 0.5)
        let poll = try #require(throws: StorageError.self) {
            _ = try options.integer("poll", in: 1...60, unit: "seconds")
        }
        #expect(poll.code == .invalidOptions)
        #expect(poll.message == "option 'poll' is 0; expected 1 to 60 seconds")
        let timeout = try #require(throws: StorageError.self) { _ = try options.number("timeout", in: 0.75...60) }
        #expect(timeout.message == "option 'timeout' is 0.5; expected 0.75 to 60")
    }

    @Test(
        "anything but a flat JSON object is refused",
        arguments: ["", "[]", "null", "3", "{", #"{"a":{}}"#, #"{"a":[1}"#])
    func damaged(_ text: String) {
        #expect(throws: StorageError.invalidOptions) { try ComponentOptions(json: Data(text.utf8)) }
    }

    @Test("a published option comes back from its JSON unchanged")
    func options() throws {
        let options: [ComponentOption] = [
            .string("a", default: "x", allowed: ["x", "y"], help: "h"), .path("b", default: "${data}/x", help: "h"),
            .integer("c", default: 3, help: "h"), .number("d", default: 0.5, help: "h"),
            .boolean("e", default: false, help: "h"), .integer("f", required: true, help: "h"),
            .list("g", help: "h"),
        ]
        let serializer = Serializer<[ComponentOption]>.json
        #expect(try serializer.decode(serializer.encode(options)) == options)
        let minimal = try serializer.decode(Data(#"[{"name":"n","type":"boolean"}]"#.utf8))
        #expect(minimal == [.boolean("n", help: "")])
        #expect(throws: StorageError.deserializationFailed) {
            try serializer.decode(Data(#"[{"name":"n","type":"colour"}]"#.utf8))
        }
    }
}
