import LocalDataHost
import TestSupport
import Testing

/// Generates random configuration texts in all the layouts that JSON5 allows; every comment is unique.
struct ConfigurationTextGenerator {
    private var random: SeededGenerator
    private var comments = 0
    private static let keys = ["a", "b", "c d", "é", "x.y", "line\nbreak", "quote\"'", "$", "ключ", ""]

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func document() -> String {
        let newline = random.piece(of: ["\n", "\r\n", "\r"])
        let body = Int.random(in: 0..<10, using: &random) == 0 ? "" : object(depth: 0)
        let mark = random.piece(of: ["", "", "\u{FEFF}"])
        return (mark + trivia() + body + trivia()).split(separator: "\n", omittingEmptySubsequences: false)
            .joined(separator: newline)
    }

    /// A path that often exists, and often continues beyond the existing part.
    mutating func path(in value: JSONValue) -> [String] {
        var path: [String] = []
        var value = value
        repeat {
            switch value {
            case .object(let members) where !members.isEmpty && Int.random(in: 0..<4, using: &random) > 0:
                path.append(members.keys.sorted().randomElement(using: &random) ?? "")
            case .array(let elements) where !elements.isEmpty:
                path.append(String(Int.random(in: 0..<elements.count, using: &random)))
            default:
                path.append(random.piece(of: Self.keys))
            }
            value = value[path.suffix(1)] ?? .null
        } while Int.random(in: 0..<3, using: &random) > 0
        return path
    }

    mutating func value(depth: Int = 0) -> JSONValue {
        switch Int.random(in: 0..<(depth < 3 ? 8 : 6), using: &random) {
        case 0: return .null
        case 1: return .bool(true)
        case 2: return .integer(Int64.random(in: .min ... .max, using: &random))
        case 3: return .double(Double.random(in: -1...1, using: &random))
        case 4: return .string("// no comment \u{2028}\\ \" ' \u{1} \u{7F}")
        case 5: return .string(random.piece(of: Self.keys))
        case 6: return .array((0..<Int.random(in: 0..<4, using: &random)).map { _ in value(depth: depth + 1) })
        default:
            var members: [String: JSONValue] = [:]
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                members[random.piece(of: Self.keys)] = value(depth: depth + 1)
            }
            return .object(members)
        }
    }

    /// The numbers of the comments in a document, or in some of its bytes.
    func comments(in document: ConfigurationDocument, _ range: Range<Int>? = nil) -> Set<Substring> {
        let bytes = Array(document.text.utf8)
        let text = String(decoding: bytes[range ?? 0..<bytes.count], as: UTF8.self)
        return Set(text.split(separator: "<<").dropFirst().compactMap { $0.split(separator: ">>").first })
    }

    private mutating func object(depth: Int) -> String {
        var keys = Set<String>()
        for _ in 0..<Int.random(in: 0..<4, using: &random) { keys.insert(random.piece(of: Self.keys)) }
        return list(keys.sorted().map { "\(key($0))\(trivia()):\(trivia())\(text(depth: depth + 1))" }, "{", "}")
    }

    private mutating func text(depth: Int) -> String {
        switch Int.random(in: 0..<(depth < 4 ? 7 : 3), using: &random) {
        case 0: return random.piece(of: ["1", "-.5", "0xfF", "2.", "true", "null", "1e3"])
        case 1: return random.piece(of: ["'a//b'", "\"/* \"", "'\\\\'", "'\\''", "\"}\"", "'\\u00e9'"])
        case 2: return "{}"
        case 3: return list((0..<Int.random(in: 0..<4, using: &random)).map { _ in text(depth: depth + 1) }, "[", "]")
        default: return object(depth: depth)
        }
    }

    private mutating func list(_ items: [String], _ open: String, _ close: String) -> String {
        var text = open
        for (index, item) in items.enumerated() {
            let isLast = index == items.count - 1
            text += trivia() + item + trivia() + (isLast && Bool.random(using: &random) ? "" : ",")
        }
        return text + trivia() + close
    }

    private mutating func key(_ key: String) -> String {
        if ["a", "b", "é", "$", "ключ"].contains(key), Bool.random(using: &random) { return key }
        let escaped = key.replacing("\n", with: "\\n").replacing("\"", with: "\\\"").replacing("'", with: "\\'")
        return Bool.random(using: &random) ? "'\(escaped)'" : "\"\(escaped)\""
    }

    private mutating func trivia() -> String {
        comments += 1
        return random.piece(of: [
            "", "", "", " ", "\n", "\n  ", "\n\t", " // <<\(comments)>>\n", "/*<<\(comments)>>*/",
            "/*\n<<\(comments)>>*/ ",
        ])
    }
}
