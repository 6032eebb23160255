import Testing

@Suite("The pipe")
struct PipeTests {
    private let home: Home

    init() throws { home = try Home() }

    private static func request(_ id: Int, _ op: String, _ name: String, scope: String = "s") -> String {
        #"{"id":\#(id),"op":"\#(op)","domain":"keychain","scope":"\#(scope)","name":"\#(name)"}"#
    }

    private static func frame(_ id: Int, _ op: String, _ name: String, _ value: [UInt8] = []) -> [UInt8] {
        PipeExchange.frame(request(id, op, name), value)
    }

    /// Sends one request, which must get the only answer.
    private func ask(_ header: String, _ value: [UInt8] = []) throws -> PipeExchange.Answer {
        let (answers, ending) = try home.pipe(PipeExchange.frame(header, value))
        #expect(ending.status == 0 && ending.errors == "", "\(ending.errors)")
        try #require(answers.count == 1)
        return answers[0]
    }

    @Test("the bytes are those in the documentation")
    func documented() throws {
        let request = Self.frame(1, "get", "n")
        #expect(request.starts(with: [0, 0, 0, 0x42, 0, 0, 0, 0x3E]))
        try home.done("set", "keychain:s/n", "--stdin", input: Array("hunter2".utf8))
        let ending = try home.run("pipe", input: request)
        #expect(ending.output == [0, 0, 0, 0x13, 0, 0, 0, 8] + Array(#"{"id":1}hunter2"#.utf8))
        #expect(try home.run("pipe", input: Self.frame(1, "get", "m")).output.count > 8)
        #expect(
            try ask(Self.request(1, "get", "m")).text
                == #"{"error":{"code":"notFound","hint":"","message":"'keychain:s/m' is not stored"},"id":1}"#)
    }

    @Test("an input without a request has no answer")
    func empty() throws {
        let ending = try home.run("pipe", input: [])
        #expect(ending.status == 0 && ending.output.isEmpty && ending.errors.isEmpty)
    }

    @Test(
        "any bytes come back",
        arguments: [
            [], [0], Array("-dash".utf8), Array("two\nlines\n".utf8), [0xFF, 0xFE, 0, 0x80],
            [UInt8](repeating: 7, count: 1 << 20), (0..<5_000_001).map { UInt8(truncatingIfNeeded: $0) },
        ])
    func values(_ value: [UInt8]) throws {
        #expect(try ask(Self.request(1, "set", "n"), value).text == #"{"id":1}"#)
        let answer = try ask(Self.request(2, "get", "n"))
        #expect(answer.text == #"{"id":2}"#)
        #expect(answer.value == value)
        let attributes = try #require(try ask(Self.request(3, "attributes", "n")).header.attributes)
        #expect(attributes.size == UInt64(value.count))
        #expect(attributes.modified?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{9})?Z/) != nil)
    }

    @Test("each operation answers with its result")
    func operations() throws {
        #expect(try ask(Self.request(1, "exists", "n")).text == #"{"exists":false,"id":1}"#)
        #expect(try ask(Self.request(1, "remove", "n")).text == #"{"id":1,"removed":false}"#)
        #expect(try ask(Self.request(1, "attributes", "n")).header.error?.code == "notFound")
        _ = try ask(Self.request(1, "set", "n"), [1])
        #expect(try ask(Self.request(1, "exists", "n")).text == #"{"exists":true,"id":1}"#)
        #expect(try ask(Self.request(1, "remove", "n")).text == #"{"id":1,"removed":true}"#)
        #expect(try ask(Self.request(1, "exists", "n")).header.exists == false)
        let version = try ask(#"{"id":9007199254740991,"op":"version","more":{}}"#).header
        #expect(version.id == 9_007_199_254_740_991)
        #expect(version.protocol == 1)
        #expect(version.longestValue == 64 << 20)
    }

    @Test("many requests are in flight, and each is answered once")
    func manyAtOnce() throws {
        let names = (0..<300).map { "name\($0)" }
        func all(_ op: String, _ value: (Int) -> [UInt8] = { _ in [] }) throws -> [PipeExchange.Answer] {
            let frames = names.indices.map { Self.frame($0, op, names[$0], value($0)) }
            let (answers, ending) = try home.pipe(Array(frames.joined()))
            #expect(ending.status == 0)
            #expect(answers.map(\.header.id) == names.indices.map { UInt64($0) })
            #expect(answers.allSatisfy { $0.header.error == nil })
            return answers
        }
        _ = try all("set") { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: $0 * 50) }
        for (index, answer) in try all("get").enumerated() {
            #expect(answer.value == [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: index * 50))
        }
        #expect(try all("remove").allSatisfy { $0.header.removed == true })
    }

    @Test("lists names in pages")
    func list() throws {
        for name in ["a", "b/1", "b/2", "b/ü", "c"] { _ = try ask(Self.request(1, "set", name), [1]) }
        func page(_ more: String) throws -> PipeExchange.Answer.Header {
            try ask(#"{"id":1,"op":"list","domain":"keychain","scope":"s"\#(more)}"#).header
        }
        let all = try page("")
        #expect(all.names == ["a", "b/1", "b/2", "b/ü", "c"] && all.more == false)
        let first = try page(#","prefix":"b/","limit":2"#)
        #expect(first.names == ["b/1", "b/2"] && first.more == true)
        let last = try page(#","prefix":"b/","limit":2,"after":"b/2""#)
        #expect(last.names == ["b/ü"] && last.more == false)
        #expect(try page(#","limit":5"#).more == false)
        #expect(try page(#","limit":0"#).error?.code == "invalidRequest")
        #expect(try page(#","limit":10001"#).error?.code == "invalidRequest")
        #expect(try ask(#"{"id":1,"op":"list","domain":"keychain","scope":"other"}"#).header.names == [])
    }

    @Test("every scope and name is distinct", arguments: ["a/b", "a:b", "%2F", "50%", "é", "e\u{301}", "\n"])
    func addresses(_ text: String) throws {
        let escaped = text.replacing("\n", with: "\\n")
        _ = try ask(Self.request(1, "set", escaped, scope: escaped), Array(text.utf8))
        #expect(try ask(Self.request(2, "get", escaped, scope: escaped)).value == Array(text.utf8))
        #expect(try ask(#"{"id":1,"op":"list","domain":"keychain","scope":"\#(escaped)"}"#).header.names == [text])
        let scope = text.replacing("%", with: "%25").replacing("/", with: "%2F")
        #expect(try home.run("get", "keychain:\(scope)/\(text)").output == Array(text.utf8))
    }

    @Test(
        "a failed request is answered with its id and the cause, and the next is served",
        arguments: [
            (request(1, "set", ""), "invalidAddress"), (request(1, "set", "a\\u0000"), "invalidAddress"),
            (request(1, "set", String(repeating: "x", count: 1025)), "invalidAddress"),
            (request(1, "set", "n", scope: ""), "keychainError"),
            (#"{"id":1,"op":"set","domain":"keychain:s","name":"n"}"#, "invalidAddress"),
            (#"{"id":1,"op":"set","domain":"a/b","name":"n"}"#, "invalidAddress"),
            (#"{"id":1,"op":"set","domain":"","name":"n"}"#, "invalidAddress"),
            (#"{"id":1,"op":"set","domain":"unknown","name":"n"}"#, "invalidConfiguration"),
            (#"{"id":1,"op":"set","scope":"s","name":"n"}"#, "invalidRequest"),
            (#"{"id":1,"op":"set","domain":"keychain","scope":"s"}"#, "invalidRequest"),
            (#"{"id":1,"op":"set","domain":"keychain","scope":"s","name":7}"#, "invalidRequest"),
            (#"{"id":1,"op":"frobnicate"}"#, "invalidRequest"), (#"{"id":1}"#, "invalidRequest"),
            (request(1, "get", "n"), "invalidRequest"), (#"{"id":1,"op":"version"}"#, "invalidRequest"),
        ])
    func failures(_ header: String, _ code: String) throws {
        let (answers, ending) = try home.pipe(
            PipeExchange.frame(header, Array("hunter2".utf8)), PipeExchange.frame(#"{"id":2,"op":"version"}"#))
        #expect(ending.status == 0)
        try #require(answers.count == 2)
        #expect(answers[0].header.error?.code == code, "\(answers[0].text)")
        #expect(answers[0].header.error?.message.isEmpty == false)
        #expect(!answers[0].text.contains("hunter2"))
        #expect(answers[1].header.protocol == 1)
    }

    @Test(
        "input that is not a frame ends with an error, after the requests before it were answered",
        arguments: [
            ([0], "ends in the middle of a frame"), ([0, 0, 0, 20], "ends in the middle of a frame"),
            ([0, 0, 0, 20, 0, 0, 0, 8, 1], "ends in the middle of a frame"),
            (Array(frame(1, "get", "n").dropLast()), "ends in the middle of a frame"),
            ([0, 0, 0, 3, 0, 0, 0], "no room for its header's size"),
            ([0, 0, 0, 10, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0], "a header of 7 bytes in a frame of 10"),
            ([0, 2, 0, 0, 0, 1, 0, 1], "a header of 65537 bytes"),
            ([0xFF, 0xFF, 0xFF, 0xFF], "a frame says that it has 4294967295 bytes"),
            ([4, 1, 0, 5], "a frame says that it has 67174405 bytes"),
            (PipeExchange.frame(""), "not a JSON object with an 'id'"),
            (PipeExchange.frame("{}"), "not a JSON object with an 'id'"),
            (PipeExchange.frame("{\"id\":-1}"), "not a JSON object with an 'id'"),
            (PipeExchange.frame("{\"id\":\"1\"}"), "not a JSON object with an 'id'"),
            (PipeExchange.frame("[1]"), "not a JSON object with an 'id'"),
            (PipeExchange.frame("GET / HTTP/1.1"), "not a JSON object with an 'id'"),
            (Array("GET / HTTP/1.1\r\n\r\n".utf8), "a frame says that it has"),
        ])
    func malformed(_ input: [UInt8], _ message: String) throws {
        let (answers, ending) = try home.pipe(Self.frame(5, "set", "n", [1, 2]), input)
        #expect(ending.status == 2)
        #expect(ending.errors.contains(message), "\(ending.errors)")
        try #require(answers.count == 2)
        #expect(answers[0].text == #"{"id":5}"#)
        #expect(answers[1].header.id == nil)
        #expect(answers[1].header.error?.code == "invalidFrame")
        #expect(answers[1].header.error?.message.contains(message) == true)
        #expect(try ask(Self.request(1, "get", "n")).value == [1, 2])
    }

    @Test("a value that is too large for a frame fails without affecting other requests")
    func largeValue() throws {
        let size = 64 << 20 | 1
        let stored = try home.shell("head -c \(size) /dev/zero | ld-host set keychain:s/n --stdin")
        #expect(stored.status == 0, "\(stored.errors)")
        #expect(try ask(Self.request(1, "get", "n")).header.error?.code == "valueTooLarge")
        #expect(try ask(Self.request(1, "attributes", "n")).header.attributes?.size == UInt64(size))
    }
}
