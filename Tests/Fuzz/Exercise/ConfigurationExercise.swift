import FoundationEssentials
import JSON
import LocalDataAPI
import ReaderExercise

@testable import HostGround
@testable import LocalDataHost

/// The configuration's text: its value according to this reader and the toolchain's decoder, and the effect of an edit.
enum ConfigurationExercise {
    static func run(_ bytes: [UInt8]) throws {
        if let text = String(validating: bytes, as: UTF8.self) { try checkPath(text) }
        let document: ConfigurationDocument
        do throws(StorageError) { document = try ConfigurationDocument(bytes: bytes, source: "input") } catch {
            return try require(error.code == .invalidConfiguration, "a text is refused with the code \(error.code)")
        }
        try require(document.text.utf8.elementsEqual(bytes), "a text that was read has become another one")
        _ = ConfigurationSchema.host.validate(document)
        if let root = document.root { try compare(root, document.value, bytes) }
        let text = try document.value.serialized()
        let again = try ConfigurationDocument(text: text, source: "again")
        try require(again.value == document.value, "a value that was written is read as another one")
        // An edit nests three levels at most.
        guard depth(of: document.value) + 3 <= ConfigurationDocument.maximumDepth else { return }
        for path in paths(in: document.value) { try edit(document, at: path) }
    }

    /// Printing and parsing of a path are inverse.
    private static func checkPath(_ text: String) throws {
        guard let path = try? ConfigurationPath(text) else { return }
        let again = try ConfigurationPath(path.description)
        try require(again == path, "a key path that was printed is parsed as another one")
    }

    /// Checks that each value is where the decoder reads the same value.
    private static func compare(_ node: JSON, _ value: JSONValue, _ bytes: [UInt8]) throws {
        switch value {
        case .object(let members):
            try require(node.isObject && node.items.count == members.count, "an object has other members")
            for member in node.items {
                guard let inner = members[member.name] else { throw Violation("a member is not in its object") }
                try compare(member.value, inner, bytes)
            }
        case .array(let elements):
            try require(node.isArray && node.items.count == elements.count, "an array has other elements")
            for (member, element) in zip(node.items, elements) { try compare(member.value, element, bytes) }
        default:
            try require(node.items.isEmpty, "a value without members is read as one with members")
            // The decoder of Swift 6.3 traps at some hexadecimal numbers of more than 63 bits.
            if case .number(let text) = node.content, text.lowercased().contains("x"), text.utf8.count > 16 { return }
            guard let decoded = decoded(bytes[node.range]) else { throw Violation("the decoder refuses a value") }
            try require(isSame(decoded, value), "the bytes that were found for a value are another value")
        }
    }

    /// The value as the decoder reads it, in an array: the decoder reads past a number that ends its input.
    private static func decoded(_ bytes: ArraySlice<UInt8>) -> JSONValue? {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        let text = Data([UInt8(ascii: "[")] + bytes + [UInt8(ascii: "]")])
        return (try? decoder.decode([JSONValue].self, from: text))?.first
    }

    /// From 2^53 on, the decoder drops the digits after the decimal point.
    private static func isSame(_ decoded: JSONValue, _ value: JSONValue) -> Bool {
        guard case .integer(let whole) = decoded, case .double(let number) = value else { return decoded == value }
        return (Double(whole) - number).magnitude <= number.ulp
    }

    private static let values: [JSONValue] = [
        .object(["a": .array([.integer(1), .string("x\n\"'\u{1}")]), "b c": .null]), .string("//"), .bool(true),
    ]

    /// Checks that an edit changes what it names and nothing else.
    private static func edit(_ document: ConfigurationDocument, at path: [String]) throws {
        let removed = try document.removing(at: path)
        try require(
            removed.value == replacing(document.value, at: path[...], with: nil),
            "removing a member changes something else")
        for value in values {
            let changed = try document.setting(value, at: path)
            try require(
                changed.value == replacing(document.value, at: path[...], with: value),
                "setting a member changes something else")
        }
        let set = try document.setting(values[0], at: path)
        let restored = replacing(set.value, at: path[...], with: nil)
        try require(
            try set.removing(at: path).value == restored, "removing a member that was set changes something else")
    }

    /// Some paths that exist, and some that do not.
    private static func paths(in value: JSONValue) -> [[String]] {
        guard case .object(let members) = value else { return [] }
        let names = members.keys.sorted()
        var paths = [["new key"], ["new", "inner"]].filter { members[$0[0]] == nil }
        for name in Set(names.prefix(2) + names.suffix(1)) {
            paths.append([name])
            switch members[name] {
            case .object(let inner):
                if inner["new"] == nil { paths.append([name, "new"]) }
                if let first = inner.keys.min() { paths.append([name, first]) }
            case .array(let elements) where !elements.isEmpty: paths.append([name, "\(elements.count - 1)"])
            default: break
            }
        }
        return paths
    }

    private static func replacing(
        _ value: JSONValue, at path: ArraySlice<String>, with new: JSONValue?
    ) -> JSONValue {
        guard let first = path.first else { return new ?? value }
        let rest = path.dropFirst()
        switch value {
        case .array(var elements):
            guard let index = ConfigurationPath.index(first), index < elements.count else { return value }
            if rest.isEmpty, new == nil {
                elements.remove(at: index)
            } else {
                elements[index] = replacing(elements[index], at: rest, with: new)
            }
            return .array(elements)
        case .object(var members):
            guard let inner = members[first] else { return new.map { value.setting($0, at: path) } ?? value }
            members[first] = rest.isEmpty && new == nil ? nil : replacing(inner, at: rest, with: new)
            return .object(members)
        default: return value
        }
    }

    private static func depth(of value: JSONValue) -> Int {
        switch value {
        case .array(let elements): 1 + (elements.map { depth(of: $0) }.max() ?? 0)
        case .object(let members): 1 + (members.values.map { depth(of: $0) }.max() ?? 0)
        default: 0
        }
    }

    static let samples: [[UInt8]] = [
        "", "// only a comment", "{}", "\u{FEFF}{ a: 1 }", #"{"domains":{"userDefaults":"file","x.custom":"memory"}}"#,
        "{\n  // stores\n  stores: {\n    s: { component: 'file', options: { root: \"/tmp/x\" }, timeout: 5.5 }, // one\n"
            + "    t: { component: \"sqlite\", sealing: { source: 'keyFile' } },\n  },\n}\n",
        "{\r\n\tplugins: { path: ['/a', '/b',], timeout: +0x10 },\r\n\tlog: { level: null } /* end */\r\n}",
        #"{a:[[1,-2.5e3,.5],{'b\u00e9\x41':"\"\\\/\b\f\n\r\t"}],$_1:true,"":false,ünï:'x'}"#,
        #"domains."x.custom""#, "a.b.0.'c d'",
        "{ deep: " + String(repeating: "[", count: 60) + String(repeating: "]", count: 60) + " }",
    ].map { Array($0.utf8) }
}
