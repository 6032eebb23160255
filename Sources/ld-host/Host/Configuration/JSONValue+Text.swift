internal import FoundationEssentials
internal import JSON
package import LocalDataAPI

extension JSONValue {
    /// Strict JSON (RFC 8259) with sorted keys, so that equal values have equal texts.
    ///
    /// - Throws: `invalidConfiguration` for infinity and not-a-number, which JSON cannot say.
    package func serialized(pretty: Bool = false) throws(StorageError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if pretty { encoder.outputFormatting.insert(.prettyPrinted) }
        do {
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        } catch {
            throw StorageError(
                .invalidConfiguration, "the value cannot be written as JSON",
                hint: "numbers must be finite")
        }
    }

    /// Reads one JSON5 value under the rules of a configuration file (see `ConfigurationDocument`), of any kind.
    ///
    /// `source` stands for the file's name in errors. A text without a value, such as only a comment, is an error.
    package init(json5 text: String, source: String) throws(StorageError) {
        let bytes = Array(text.utf8)
        do throws(JSONFault) {
            if let json = try JSON.read(bytes, deepest: ConfigurationDocument.maximumDepth, isJSON5: true) {
                self = try JSONValue(json)
                return
            }
        } catch {
            throw error.located(in: source, lines: ConfigurationLines(bytes))
        }
        throw StorageError(.invalidConfiguration, "\(source): expected a value, found the end of the text")
    }

    /// The value that a text says.
    ///
    /// - Throws: At a number that is none of 64 bits.
    init(_ json: JSON) throws(JSONFault) {
        switch json.content {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .string(let text): self = .string(text)
        case .number(let text):
            guard let number = Self.number(text) else { throw JSONFault(.range, at: json.range.lowerBound) }
            self = number
        case .array(let elements):
            self = .array(try elements.map { (element) throws(JSONFault) in try JSONValue(element) })
        case .object(let object):
            var values: [String: JSONValue] = [:]
            for member in object.members { values[member.name] = try JSONValue(member.value) }
            self = .object(values)
        }
    }

    /// A number of JSON5; `nil` if it does not fit.
    private static func number(_ text: String) -> JSONValue? {
        if let whole = Int64(text) { return .integer(whole) }
        let sign = text.hasPrefix("-") ? "-" : ""
        let digits = text.drop { $0 == "+" || $0 == "-" }
        if digits.lowercased().hasPrefix("0x") {
            if let whole = Int64(sign + digits.dropFirst(2), radix: 16) { return .integer(whole) }
            let large = UInt64(digits.dropFirst(2), radix: 16)
            return sign.isEmpty ? large.flatMap { Double(exactly: $0) }.map { .double($0) } : nil
        }
        guard let number = Double(sign + digits), number.isFinite else { return nil }
        guard let whole = Int64(exactly: number) else { return .double(number) }
        // From 2^53 on, a whole one may be another.
        if number.magnitude < 0x1p53 { return .integer(whole) }
        return DecimalNumber(sign + digits)?.whole.map { .integer($0) } ?? .double(number)
    }
}
