import DurableFiles
import FoundationEssentials
import Glibc
import LocalDataPluginAPI

/// The part of a file's record that reading its value needs.
struct RecordedContent: AttributeReading {
    var record: ContentRecord?
    /// Drawn at random by the write.
    var revision: UInt64?
    /// When the value expires, in nanoseconds since 1970 UTC.
    var expires: Int64?

    /// - Throws: `ValueExpired` if the value has expired.
    func refuseExpired() throws { if isExpired { throw ValueExpired() } }

    /// Whether the value has expired.
    var isExpired: Bool { expires.map { $0 <= Moment.now } ?? false }
}

/// A file's record, and what it says with the file's status about the value.
final class DescribedContent: AttributeReading {
    let recorded: RecordedContent
    let revision: UInt64
    let attributes: ValueAttributes

    var record: ContentRecord? { recorded.record }

    /// Describes the value of a file with a record and the attributes beside it.
    init(_ status: FileStatus, _ recorded: RecordedContent, _ attributes: ValueAttributes) {
        self.recorded = recorded
        revision = FileStore.revision(recorded.revision, status)
        var attributes = attributes
        attributes.size = UInt64(status.size)
        attributes.modified = status.modified
        self.attributes = attributes
    }
}

/// The content of a file's extended attribute: JSON with sorted keys of the record of the content and the known
/// attributes. Size and modification time come from the file itself.
///
/// The record comes first, `{"checksum":"crc32c <8 hexadecimal digits> <size> <modification time>"`, so that reading a
/// value parses no JSON. Then comes the write's own number, `"revision":"<16 hexadecimal digits>"`. Earlier versions
/// wrote neither.
enum StoredAttributes {
    /// The extended attribute's name.
    static let name = CString("user.localdata".utf8)

    /// The attribute for a file to be written.
    ///
    /// - Parameter noting: Receives the number that a write has drawn, and the record of its content.
    static func encoded(
        _ attributes: ValueAttributes?, noting: @escaping @Sendable (UInt64, ContentRecord) -> Void = { _, _ in }
    ) throws -> FileAttribute {
        var known: [UInt8] = Array("}".utf8)
        if let attributes {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let members = try encoder.encode(attributes.kept).dropFirst()
            known = (members.count > 1 ? Array(",".utf8) : []) + members
        }
        return FileAttribute(name) { [known] record in
            let revision = UInt64.random(in: 1 ... .max)
            noting(revision, record)
            let content = "\(hexadecimal(record.checksum)) \(record.size) \(record.modified)"
            return start + Array("\(content)\",\"revision\":\"\(hexadecimal(revision))\"".utf8) + known
        }
    }

    /// The record of a file's content; `nil` if absent.
    static func record(of file: borrowing OpenFile) throws -> ContentRecord? {
        try file.withAttribute(name, record) ?? nil
    }

    /// The part of a file's attribute that reading its value needs; empty if the file has none.
    static func recorded(of file: borrowing OpenFile) throws -> RecordedContent {
        try file.withAttribute(name, recorded(in:)) ?? RecordedContent()
    }

    /// The same, with all attributes, of a file with this status.
    static func described(of file: borrowing OpenFile, _ status: FileStatus) throws -> DescribedContent {
        try file.withAttribute(name) { DescribedContent(status, recorded(in: $0), attributes(in: $0)) }
            ?? DescribedContent(status, RecordedContent(), ValueAttributes())
    }

    private static func recorded(in bytes: UnsafeRawBufferPointer) -> RecordedContent {
        RecordedContent(record: record(bytes), revision: revision(in: bytes), expires: expires(in: bytes))
    }

    private static func hexadecimal<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: Number.bitWidth / 4 - digits.count) + digits
    }

    private static func revision(in bytes: UnsafeRawBufferPointer) -> UInt64? {
        member(revisionMember, in: bytes).flatMap { UInt64(String(decoding: $0.prefix(16), as: UTF8.self), radix: 16) }
    }

    private static func expires(in bytes: UnsafeRawBufferPointer) -> Int64? {
        guard let text = member(expiresMember, in: bytes) else { return nil }
        let digits = text.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: "-") }
        return Int64(String(decoding: digits, as: UTF8.self))
    }

    /// The bytes after the start of a member, found without parsing: texts have no unescaped quotes.
    private static func member(_ member: [UInt8], in bytes: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer>? {
        var rest = bytes[...]
        // Every member but the first begins with a comma.
        while rest.count > member.count, let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress,
            let comma = memchr(start, Int32(UInt8(ascii: ",")), rest.count - member.count)
        {
            rest = rest.dropFirst(UnsafeRawPointer(comma) - start)
            if memcmp(comma, member, member.count) == 0 { return rest.dropFirst(member.count) }
            rest = rest.dropFirst()
        }
        return nil
    }

    private static let revisionMember = Array(",\"revision\":\"".utf8)
    private static let expiresMember = Array(",\"expires\":".utf8)
    private static let contentTypeMember = Array(",\"contentType\":\"".utf8)
    private static let serializerMember = Array(",\"serializer\":\"".utf8)
    private static let versionTagMember = Array(",\"versionTag\":\"".utf8)
    private static let appVersionMember = Array(",\"appVersion\":\"".utf8)
    private static let ownerMember = Array(",\"owner\":\"".utf8)

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
    private static func attributes(in bytes: UnsafeRawBufferPointer) -> ValueAttributes {
        // What others have written, and a text with an escape, is left to the decoder, which takes as long as all else.
        guard record(bytes) != nil, !bytes.contains(UInt8(ascii: "\\")) else {
            return (try? JSONDecoder().decode(ValueAttributes.self, from: Data(bytes)))?.kept ?? ValueAttributes()
        }
        return ValueAttributes(
            contentType: text(contentTypeMember, in: bytes), serializer: text(serializerMember, in: bytes),
            versionTag: text(versionTagMember, in: bytes), appVersion: text(appVersionMember, in: bytes),
            owner: text(ownerMember, in: bytes), expires: expires(in: bytes))
    }

    /// A text without escapes.
    private static func text(_ member: [UInt8], in bytes: UnsafeRawBufferPointer) -> String? {
        self.member(member, in: bytes).flatMap {
            String(validating: $0.prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
        }
    }
}
