#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The project's one way of writing property lists: binary.
enum PropertyListCoding {
    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return try encoder.encode(value)
    }

    /// Reads a property list in binary, XML or the old format with braces.
    ///
    /// Stored bytes may come from anyone, and the toolchain's decoder crashes on some: on XML and on types that nest
    /// without end, and on a binary list whose counts exceed it. So this function checks those formats first. The old
    /// format needs no check: its decoder has its own limit.
    ///
    /// - Throws: `PropertyListFault` for bytes that the decoder must not see, and what the decoder throws.
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
