internal import FoundationEssentials

/// The project's one way of writing property lists: binary.
enum PropertyListCoding {
    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return try encoder.encode(value)
    }

    /// Reads a property list that is binary, XML or of the old form with braces.
    ///
    /// Stored bytes may be anybody's, and the toolchain's decoder ends the process on some of them: on XML and on types
    /// that nest when the nesting has no end, and on a binary list whose counts lead out of it. So those are looked at
    /// before. The old form needs no look: its decoder has a limit of its own.
    ///
    /// - Throws: `PropertyListFault` for what the decoder must not see, and what the decoder throws.
    static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        if BinaryPropertyList.fits(data) {
            _ = try BinaryPropertyList(data)
            return try PropertyListDecoder().decode(type, from: data)
        }
        let text = try PropertyListText(data)
        try text.checkNesting()
        return try PropertyListDecoder().decode(type, from: text.utf8)
    }
}
