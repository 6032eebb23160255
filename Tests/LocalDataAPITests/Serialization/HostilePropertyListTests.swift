import FoundationEssentials
import LocalDataAPI
import Testing

@Suite("unchecked property lists") struct HostilePropertyListTests {
    private typealias Bytes = [UInt8]

    /// Lists and dictionaries nested in each other, with any content.
    private struct Nest: Codable, Sendable {
        private struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { return nil }
        }

        init(from decoder: any Decoder) throws {
            if var list = try? decoder.unkeyedContainer() {
                while !list.isAtEnd { _ = try list.decode(Nest.self) }
            } else if let members = try? decoder.container(keyedBy: Name.self) {
                for name in members.allKeys { _ = try members.decode(Nest.self, forKey: name) }
            }
        }

        func encode(to encoder: any Encoder) throws {}
    }

    /// Reads with a type that nests like the list.
    private func read(_ data: Data) throws(StorageError) { _ = try Serializer<Nest>.plist.decode(data) }

    private let key = AnyStorageKey(
        StorageKeyDescriptor(
            name: "k", domain: .userDefaults(), serializer: .plist, owner: "tests", description: "a key"))

    /// The error for a list that no type can read, whether or not the type nests.
    private func refusal(_ data: Data) throws -> String {
        let flat = try #require(throws: StorageError.self) { try Serializer<[String: String]>.plist.decode(data) }
        let error = try #require(throws: StorageError.self) { try key.check(data) }
        for error in [flat, error] { #expect(error.code == .deserializationFailed && !"\(error)".contains("hunter2")) }
        #expect(flat.message.contains("stored bytes are not a"))
        return error.message
    }

    private func xml(_ content: String) -> Data {
        Data("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\(content)</plist>\n".utf8)
    }

    private func nested(_ count: Int, _ open: String, _ close: String, inner: String = "") -> String {
        String(repeating: open, count: count) + inner + String(repeating: close, count: count)
    }

    private static let containers = [("<array>", "</array>"), ("<dict><key>hunter2</key>", "</dict>")]

    private let tooDeep = "nests more than 512 lists and dictionaries"

    @Test("XML is refused only if it nests too deep", arguments: containers)
    func deepText(_ open: String, _ close: String) throws {
        let inner = "<string>hunter2</string>"
        try read(xml(nested(512, open, close, inner: inner)))
        for count in [513, 20_000, 100_000] {
            #expect(try refusal(xml(nested(count, open, close, inner: inner))).contains(tooDeep))
        }
        // The list need not be complete, or have anything around it.
        #expect(try refusal(Data(nested(20_000, open, "").utf8)).contains(tooDeep))
        #expect(try refusal(Data(nested(20_000, open + "\t\r\n", close).utf8)).contains(tooDeep))
    }

    @Test("everything that the decoder takes for a list is counted, however it is written")
    func spellings() throws {
        for open in [
            "<plist>", "<plist a='/'>", "<array/ >", "<arrays>", "<array\n>", "<!-- > --><array>", "<?a?><dict>",
        ] {
            #expect(try refusal(Data(nested(20_000, open, "").utf8)).contains(tooDeep), "\(open)")
        }
        #expect(try refusal(Data(nested(600, "<plist><array><dict>", "").utf8)).contains(tooDeep))
        // The end of such an instruction is ambiguous, so reading must stop there.
        for start in ["<? <!-- ?><plist>", "<?><plist>", "<?a>?><plist>"] {
            #expect(
                try refusal(Data((start + nested(20_000, "<array>", "")).utf8)).contains("is a damaged"), "\(start)")
        }
    }

    @Test(
        "text in other encodings is bounded, too",
        arguments: [
            ([0xFF, 0xFE], .utf16LittleEndian), ([0xFE, 0xFF], .utf16BigEndian),
            ([0xFF, 0xFE, 0, 0], .utf32LittleEndian), ([0, 0, 0xFE, 0xFF], .utf32BigEndian),
        ] as [([UInt8], String.Encoding)])
    func encodings(_ mark: [UInt8], _ encoding: String.Encoding) throws {
        func data(_ count: Int) throws -> Data {
            let text =
                "<?xml version=\"1.0\" encoding=\"UTF-16\"?><plist>\(nested(count, "<array>", "</array>"))</plist>"
            return Data(mark) + (try #require(text.data(using: encoding)))
        }
        try read(try data(512))
        #expect(try refusal(try data(20_000)).contains(tooDeep))
        _ = try refusal(Data(mark) + Data([0xD8, 0, 0xD8]))
    }

    @Test("comments, character data sections and sibling lists do not count as nesting")
    func harmless() throws {
        let many = nested(2_000, "<array><dict><plist>", "")
        let text = "<!-- \(many) --><array><string><![CDATA[\(many)]]></string><string>a</string><!----></array>"
        #expect(try Serializer<[String]>.plist.decode(xml(text)) == [many, "a"])
        let wide = nested(2_000, "<array></array><dict/>", "")
        #expect(try Serializer<[AnyCodable]>.plist.decode(xml("<array>\(wide)</array>")).count == 4_000)
        let declared = Data("\u{FEFF} <!DOCTYPE plist PUBLIC \"a\" \"b\"><?a b?><plist><array/></plist>".utf8)
        #expect(try Serializer<[String]>.plist.decode(declared) == [])
    }

    @Test("every end that is missing from a list is an error", arguments: ["binary", "XML"])
    func truncated(_ form: String) throws {
        let value = ["a": ["hunter2", "\u{1F600}"], "b": Array(repeating: "c", count: 20)]
        let encoder = PropertyListEncoder()
        encoder.outputFormat = form == "XML" ? .xml : .binary
        let data = try encoder.encode(value)
        #expect(try Serializer<[String: [String]]>.plist.decode(data) == value)
        let end = form == "XML" ? data.count - "</plist>\n".utf8.count : data.count
        // Fewer bytes than the whole mark are a word in the old format.
        for count in (form == "XML" ? 0 : 7)..<end { _ = try refusal(data.prefix(count)) }
    }

    @Test("a list with one changed byte is an error or a different value", arguments: ["binary", "XML"])
    func damaged(_ form: String) throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = form == "XML" ? .xml : .binary
        let data = try encoder.encode(["a": [["hunter2"], ["\u{1F600}"]], "b": [Array(repeating: "c", count: 20)]])
        for index in data.indices {
            for byte: UInt8 in [0, 0x0F, 0x3C, 0x3E, 0x5F, 0x6F, 0x80, 0xA1, 0xDF, 0xFF] {
                var damaged = data
                damaged[index] = byte
                do throws(StorageError) {
                    _ = try Serializer<[String: [[String]]]>.plist.decode(damaged)
                    try read(damaged)
                } catch { #expect(error.code == .deserializationFailed && !"\(error)".contains("hunter2")) }
            }
        }
    }

    /// A binary list of objects, with references of 4 bytes.
    private func binary(_ objects: [[UInt8]]) -> Data {
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        bytes += offsets.flatMap { number($0, 4) } + [0, 0, 0, 0, 0, 0, 4, 4]
        return Data(bytes + number(objects.count, 8) + number(0, 8) + number(table, 8))
    }

    private func number(_ value: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    /// A chain of lists, each of which holds the next one so many times.
    private func chain(_ count: Int, width: Int = 1, last: [UInt8] = [0xA0]) -> [[UInt8]] {
        (1..<count).map { next in [0xA0 | UInt8(width)] + (0..<width).flatMap { _ in number(next, 4) } } + [last]
    }

    @Test("a binary list is refused only if it nests too deep")
    func deepBinary() throws {
        try read(binary(chain(512)))
        try key.check(binary(chain(512)))
        try read(binary(chain(513, last: [0x57] + Array("hunter2".utf8))))
        for count in [513, 100_000] { #expect(try refusal(binary(chain(count))).contains(tooDeep)) }
        // The reader visits the short path first.
        let short = [0xA2] + number(511, 4) + number(1, 4)
        #expect(try refusal(binary([short] + chain(513).dropFirst())).contains(tooDeep))
    }

    @Test("a binary list that contains itself is refused")
    func circular() throws {
        let itself = "has a list or dictionary that contains itself"
        #expect(try refusal(binary([[0xA1] + number(0, 4)])).contains(itself))
        #expect(try refusal(binary(chain(40, last: [0xA1] + number(7, 4)))).contains(itself))
        #expect(try refusal(binary([[0xD1] + number(1, 4) + number(0, 4), [0x51, 0x61]])).contains(itself))
        #expect(try refusal(binary([[0xD1] + number(0, 4) + number(1, 4), [0x51, 0x61]])).contains(itself))
        #expect(try refusal(binary([[0xC1] + number(0, 4)])).contains(itself))
    }

    @Test("a small binary list that expands to a large value is refused, but not one that repeats a text")
    func repeated() throws {
        for width in [2, 14] {
            #expect(
                try refusal(binary(chain(60, width: width))).contains(
                    "refers to its values more often than it has bytes"))
        }
        let values = ["a": Array(repeating: "hunter2", count: 1_000), "b": Array(repeating: "", count: 1_000)]
        #expect(try Serializer.plist.decode(Serializer.plist.encode(values)) == values)
        let rows = Array(repeating: Array(repeating: "hunter2", count: 50), count: 50)
        #expect(try Serializer.plist.decode(Serializer.plist.encode(rows)) == rows)
        // These objects overlap.
        var same = binary([[0xAF, 0x11, 0x10, 0x00] + (0..<0x1000).flatMap { number($0 % 8, 4) }] + chain(8))
        same.replaceSubrange(same.count - 32 - 32..<same.count - 32, with: (0..<8).flatMap { _ in number(8, 4) })
        _ = try refusal(same)
    }

    @Test("a binary list whose counts or offsets exceed it is refused")
    func outside() throws {
        let large: [UInt8] = [0x13, 0x80, 0, 0, 0, 0, 0, 0, 0]
        for mark: UInt8 in [0x4F, 0x5F, 0x6F, 0xAF, 0xCF, 0xDF] {
            for count in [large, [0x13, 0x7F] + Bytes(repeating: 0xFF, count: 7), [0x11, 0x10, 0x00], [0x14], [0x51]] {
                #expect(try refusal(binary([[0xA1] + number(1, 4), [mark] + count])).contains("is a damaged"))
            }
        }
        // Only half of its units exist.
        let half = [0x6F, 0x11] + number(2_000, 2) + Bytes(repeating: 0x41, count: 2_001)
        #expect(try refusal(binary([[0xA1] + number(1, 4), half])).contains("is a damaged"))
        #expect(try refusal(binary([[0xA1] + number(9, 4)])).contains("is a damaged"))
        #expect(try refusal(Data("bplist00".utf8) + Data(repeating: 0xFF, count: 64)).contains("is a damaged"))
    }

    @Test("the old format with braces is limited by the decoder itself, and so is JSON")
    func others() throws {
        try read(Data(nested(500, "(", ")").utf8))
        for (open, close) in [("(", ")"), ("{a=", ";}"), ("(", ""), ("{hunter2={", "")] {
            _ = try refusal(Data(nested(100_000, open, close, inner: "hunter2").utf8))
        }
        _ = try Serializer<Nest>.json.decode(Data(nested(512, "[", "]").utf8))
        for (open, close) in [("[", "]"), ("{\"hunter2\":", "}"), ("[", "")] {
            for count in [513, 100_000] {
                let data = Data(nested(count, open, close, inner: "1").utf8)
                let error = try #require(throws: StorageError.self) { try Serializer<AnyCodable>.json.decode(data) }
                #expect(error.code == .deserializationFailed && !"\(error)".contains("hunter2"))
            }
        }
    }
}
