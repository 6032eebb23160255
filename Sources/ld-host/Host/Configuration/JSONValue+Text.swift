import FoundationEssentials
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

    /// What the toolchain's JSON5 decoder makes of the bytes of one value, comments or white space around it excluded;
    /// nil if it refuses them.
    ///
    /// The value is decoded as the only element of an array: the decoder of Swift 6.3 reads on behind the end of its
    /// input after a number that ends it, and then returns another number or traps.
    init?(decodingJSON5 bytes: ArraySlice<UInt8>) {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        let text = Data([UInt8(ascii: "[")] + bytes + [UInt8(ascii: "]")])
        guard let elements = try? decoder.decode([JSONValue].self, from: text), elements.count == 1 else { return nil }
        self = elements[0]
    }

    /// Reads one JSON5 value under the rules of a configuration file (see `ConfigurationDocument`), of any kind.
    ///
    /// `source` stands for the file's name in errors. A text without a value, such as only a comment, is an error.
    package init(json5 text: String, source: String) throws(StorageError) {
        let bytes = Array(text.utf8)
        let lines = ConfigurationLines(bytes)
        let node: ConfigurationNode?
        do {
            node = try ConfigurationScanner.scan(bytes)
        } catch {
            throw error.located(in: source, lines: lines)
        }
        guard let node else {
            throw StorageError(.invalidConfiguration, "\(source): expected a value, found the end of the text")
        }
        self = try node.decoded(from: bytes, source: source, lines: lines)
    }
}
