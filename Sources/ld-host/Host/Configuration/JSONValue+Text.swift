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
