import DurableFiles
import FoundationEssentials
import Glibc
import LocalDataAPI

/// What is recorded with a file's content, as far as reading it needs.
struct RecordedContent {
    let record: ContentRecord?
    let versionTag: String?
}

/// The content of a file's extended attribute: JSON with sorted keys of the record of the content and the known
/// attributes. Size and modification time come from the file itself.
///
/// The record comes first, `{"checksum":"crc32c <8 hexadecimal digits> <size> <modification time>"`, so that reading a
/// value parses no JSON. Earlier versions did not write it.
struct StoredAttributes: Codable {
    /// The extended attribute's name.
    static let name = CString("user.localdata".utf8)

    private let contentType: String?
    private let serializer: String?
    private let versionTag: String?
    private let appVersion: String?
    private let owner: String?

    private init(_ attributes: ValueAttributes) {
        contentType = attributes.contentType
        serializer = attributes.serializer
        versionTag = attributes.versionTag
        appVersion = attributes.appVersion
        owner = attributes.owner
    }

    /// The attribute for a file to be written.
    static func encoded(_ attributes: ValueAttributes?) throws -> FileAttribute {
        var known: [UInt8] = Array("}".utf8)
        if let attributes {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let members = try encoder.encode(StoredAttributes(attributes)).dropFirst()
            known = (members.count > 1 ? Array(",".utf8) : []) + members
        }
        return FileAttribute(name) { [known] record in
            let digits = String(record.checksum, radix: 16)
            let checksum = String(repeating: "0", count: 8 - digits.count) + digits
            return start + Array("\(checksum) \(record.size) \(record.modified)\"".utf8) + known
        }
    }

    /// The record of a file's content; `nil` if absent.
    static func record(of file: borrowing OpenFile) throws -> ContentRecord? {
        try file.withAttribute(name, record) ?? nil
    }

    /// What reading a value needs of its file's attribute; `nil` if absent.
    static func recorded(of file: borrowing OpenFile) throws -> RecordedContent? {
        try file.withAttribute(name) { RecordedContent(record: record($0), versionTag: versionTag(in: $0)) }
    }

    /// The version tag, found without parsing: unescaped quotes do not occur within a text.
    private static func versionTag(in bytes: UnsafeRawBufferPointer) -> String? {
        let member = versionTagMember
        guard let start = bytes.baseAddress, bytes.count > member.count,
            let found = (0..<bytes.count - member.count).first(where: {
                bytes[$0] == member[0] && memcmp(start + $0, member, member.count) == 0
            })
        else { return nil }
        let text = bytes[(found + member.count)...]
        guard let end = text.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        let tag = text[..<end]
        // An escape is rare, and left to the decoder.
        guard !tag.contains(UInt8(ascii: "\\")) else { return decoded(Array(bytes)).versionTag }
        return String(validating: tag, as: UTF8.self)
    }

    private static let versionTagMember = Array(",\"versionTag\":\"".utf8)

    private static func record(_ bytes: UnsafeRawBufferPointer) -> ContentRecord? {
        guard bytes.count > start.count, bytes.prefix(start.count).elementsEqual(start) else { return nil }
        var numbers = (checksum: 0, size: 0, modified: 0)
        var rest = bytes.dropFirst(start.count)
        guard number(&rest, radix: 16, until: UInt8(ascii: " "), &numbers.checksum),
            number(&rest, radix: 10, until: UInt8(ascii: " "), &numbers.size),
            number(&rest, radix: 10, until: UInt8(ascii: "\""), &numbers.modified),
            let checksum = UInt32(exactly: numbers.checksum)
        else { return nil }
        return ContentRecord(checksum: checksum, size: numbers.size, modified: Int64(numbers.modified))
    }

    /// Reads a number of digits and its terminator; `false` for anything else.
    private static func number(
        _ rest: inout Slice<UnsafeRawBufferPointer>, radix: Int, until end: UInt8, _ number: inout Int
    ) -> Bool {
        var hasDigits = false
        while let byte = rest.popFirst() {
            if byte == end { return hasDigits }
            let digit: Int
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = Int(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f") where radix == 16: digit = Int(byte - UInt8(ascii: "a")) + 10
            default: return false
            }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: radix)
            let (sum, isTooMuch) = product.addingReportingOverflow(digit)
            guard !isTooLarge, !isTooMuch else { return false }
            (number, hasDigits) = (sum, true)
        }
        return false
    }

    private static let start = Array("{\"checksum\":\"crc32c ".utf8)

    /// The attributes in an extended attribute; unknown ones if it is not decodable.
    static func decoded(_ bytes: [UInt8]) -> ValueAttributes {
        guard let stored = try? JSONDecoder().decode(StoredAttributes.self, from: Data(bytes)) else {
            return ValueAttributes()
        }
        return ValueAttributes(
            contentType: stored.contentType, serializer: stored.serializer, versionTag: stored.versionTag,
            appVersion: stored.appVersion, owner: stored.owner)
    }
}
