import LocalDataAPI
import LocalDataHost
import Testing

@Suite("ConfigurationDocument: editing")
struct ConfigurationDocumentEditingTests {
    private func document(_ text: String) throws -> ConfigurationDocument {
        try ConfigurationDocument(text: text, source: "c.json")
    }

    private func setting(_ text: String, _ path: [String], _ value: JSONValue) throws -> String {
        let edited = try document(text).setting(value, at: path)
        #expect(edited.value == (try document(text).value.setting(value, at: path)))
        return edited.text
    }

    @Test(
        "setting a member changes the text as a careful person would",
        arguments: [
            ("", "{\n  a: 1\n}\n"),
            ("{}", "{\n  a: 1\n}"),
            ("{ }\n", "{\n  a: 1\n}\n"),
            ("\u{FEFF}", "\u{FEFF}{\n  a: 1\n}\n"),
            ("// only a comment", "// only a comment\n{\n  a: 1\n}\n"),
            ("/* one */\r\n", "/* one */\r\n{\r\n  a: 1\r\n}\r\n"),
            ("{\n  // nothing yet\n}\n", "{\n  // nothing yet\n  a: 1\n}\n"),
            ("{ /* none */ }", "{ /* none */\n  a: 1\n}"),
            ("{ a: 2 }", "{ a: 1 }"),
            ("{a:/* x */{b:2}/* y */,}", "{a:/* x */1/* y */,}"),
            ("{ b: 2 }", "{ b: 2, a: 1 }"),
            ("{b:2,}", "{b:2, a: 1,}"),
            ("{ b: 2 /* two */ }", "{ b: 2, /* two */ a: 1 }"),
            ("{ b: 2 // two\n}", "{ b: 2, // two\na: 1\n}"),
            ("{\n  b: 2\n}", "{\n  b: 2,\n  a: 1\n}"),
            ("{\n  b: 2,\n}", "{\n  b: 2,\n  a: 1,\n}"),
            ("{\n\tb: 2, // two\n\t// end\n}", "{\n\tb: 2, // two\n\ta: 1,\n\t// end\n}"),
            ("{\n  b: 2 // two\n  , // comma\n}", "{\n  b: 2 // two\n  , // comma\n  a: 1,\n}"),
            ("{\r\n    b: 2 // two\r\n}", "{\r\n    b: 2, // two\r\n    a: 1\r\n}"),
            ("{\n  \"b\": 2\n}", "{\n  \"b\": 2,\n  \"a\": 1\n}"),
            ("\n{\nb: 2\n}", "\n{\nb: 2,\na: 1\n}"),
        ])
    func settingMember(text: String, expected: String) throws {
        #expect(try setting(text, ["a"], .integer(1)) == expected)
    }

    @Test("missing parents are added in the layout of the text")
    func missingParents() throws {
        let path = ["stores", "my cache", "component"]
        let value = JSONValue.string("memory")
        #expect(
            try setting("{\n    log: {},\n}\n", path, value)
                == "{\n    log: {},\n    stores: {\n        \"my cache\": {\n            component: \"memory\"\n"
                + "        }\n    },\n}\n")
        #expect(
            try setting("{ log: {} }", path, value)
                == "{ log: {}, stores: { \"my cache\": { component: \"memory\" } } }")
        #expect(
            try setting("{\n  stores: {}\n}", path, value)
                == "{\n  stores: { \"my cache\": { component: \"memory\" } }\n}")
        #expect(
            try setting("{\n  stores: {\n  }\n}", path, value)
                == "{\n  stores: {\n    \"my cache\": {\n      component: \"memory\"\n    }\n  }\n}")
    }

    @Test("a value with structure is indented when it has room, and stays on its line when it has none")
    func structuredValue() throws {
        let value = JSONValue.object(["path": .array([.string("/a"), .string("/b")]), "timeout": .double(0.5)])
        #expect(
            try setting("{\n  plugins: null, // here\n}", ["plugins"], value)
                == "{\n  plugins: {\n    path: [\"/a\", \"/b\"],\n    timeout: 0.5\n  }, // here\n}")
        #expect(
            try setting("{ plugins: null }", ["plugins"], value)
                == "{ plugins: { path: [\"/a\", \"/b\"], timeout: 0.5 } }")
    }

    @Test("elements of arrays are replaced by index")
    func element() throws {
        let edited = try document("{ a: [1, /* two */ 2, { b: 3 }] }")
        #expect(try edited.setting(.integer(9), at: ["a", "1"]).text == "{ a: [1, /* two */ 9, { b: 3 }] }")
        #expect(try edited.setting(.null, at: ["a", "2", "b"]).text == "{ a: [1, /* two */ 2, { b: null }] }")
    }

    @Test("a path through something other than an object is refused with its position")
    func refusedPaths() throws {
        let document = try document("{\n  a: 'x', b: [1],\n}")
        for (path, expected) in [
            (["a", "x"], "c.json:2:6: a: expected an object, found a string"),
            (["b", "1"], "c.json:2:14: b: expected an object, found an array"),
            ([], "expected a key path, found an empty one"),
        ] {
            let error = #expect(throws: StorageError.self) { try document.setting(.null, at: path) }
            #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
        }
        #expect(throws: StorageError.invalidConfiguration) { try document.setting(.double(.infinity), at: ["a"]) }
        let deep = (0..<70).reduce(JSONValue.null) { value, _ in .object(["x": value]) }
        #expect(throws: StorageError.invalidConfiguration) { try document.setting(deep, at: ["a"]) }
    }

    @Test(
        "removing a member also removes its line and the comment after it, and no other comment",
        arguments: [
            ("{ a: 1 }", "{ }"),
            ("{ a: 1, b: 2 }", "{ b: 2 }"),
            ("{ b: 2, a: 1 }", "{ b: 2 }"),
            ("{b:2,a:1,}", "{b:2,}"),
            ("{ b: 2, /* x */ a: 1 }", "{ b: 2 /* x */ }"),
            ("{ a: 1, /* about b */ b: 2 }", "{ /* about b */ b: 2 }"),
            ("{\n  // above\n  a: 1, // one\n  // below\n  b: 2,\n}", "{\n  // above\n  // below\n  b: 2,\n}"),
            ("{\r\n  b: 2, // two\r\n  a: 1 // one\r\n}", "{\r\n  b: 2 // two\r\n}"),
            ("{\n  a: 1, b: 2\n}", "{\n  b: 2\n}"),
            ("{\n  a: {\n    c: 1,\n  },\n  b: 2\n}", "{\n  b: 2\n}"),
            ("{ // x\n a: 1 }", "{ // x\n }"),
            ("{ b: 2 }", "{ b: 2 }"),
            ("", ""),
        ])
    func removing(text: String, expected: String) throws {
        let edited = try document(text).removing(at: ["a"])
        #expect(edited.text == expected)
        #expect(edited.value[["a"]] == nil)
    }

    @Test("removing an element closes the gap")
    func removingElement() throws {
        let document = try document("{ a: [1, 2, 3] }")
        #expect(try document.removing(at: ["a", "1"]).text == "{ a: [1, 3] }")
        #expect(try document.removing(at: ["a", "2"]).text == "{ a: [1, 2] }")
        #expect(try document.removing(at: ["a", "3"]).text == document.text)
        #expect(try document.removing(at: []).text == document.text)
    }

    @Test("any value that is set reads back; everything else and every comment outside stays", arguments: 0..<16)
    func settingIsExact(seed: Int) throws {
        var generator = ConfigurationTextGenerator(seed: UInt64(seed))
        for _ in 0..<150 {
            let text = generator.document()
            let before = try document(text)
            let path = generator.path(in: before.value)
            let value = generator.value()
            let edited: ConfigurationDocument
            do {
                edited = try before.setting(value, at: path)
            } catch {
                #expect("\(error)".contains("expected an object"), "\(text)\n\(path) \(error)")
                continue
            }
            let context: Comment = "\(text.debugDescription) \(path) -> \(edited.text.debugDescription)"
            #expect(edited.value[path] == value, context)
            #expect(edited.value == (before.value.replacing(value, at: path)), context)
            let inside = before.ranges(of: path).map { generator.comments(in: before, $0.value) } ?? []
            #expect(generator.comments(in: edited) == generator.comments(in: before).subtracting(inside), context)
            #expect(try edited.setting(value, at: path).value == edited.value, context)
        }
    }

    @Test("any value that is removed is gone, and everything else stays", arguments: 0..<16)
    func removingIsExact(seed: Int) throws {
        var generator = ConfigurationTextGenerator(seed: UInt64(1000 + seed))
        for _ in 0..<150 {
            let text = generator.document()
            let before = try document(text)
            let path = generator.path(in: before.value)
            let edited = try before.removing(at: path)
            #expect(
                edited.value == before.value.removing(at: path),
                "\(text.debugDescription) \(path) -> \(edited.text.debugDescription)")
        }
    }
}
