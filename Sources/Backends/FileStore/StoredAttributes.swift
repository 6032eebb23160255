import DurableFiles
import FoundationEssentials
import Glibc
import LocalDataAPI

/// The part of a file's record that reading its value needs.
struct RecordedContent {
    let record: ContentRecord?
    let versionTag: String?
    /// Drawn at random by the write.
    let revision: UInt64?
    /// When the value expires, in nanoseconds since 1970 UTC.
    let expires: Int64?

    /// - Throws: `ValueExpired` if the value has expired.
    func refuseExpired() throws { if isExpired { throw ValueExpired() } }

    /// Whether the value has expired.
    var isExpired: Bool { expires.map { $0 <= Moment.now } ?? false }
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

    /// The part of a file's attribute that reading its value needs; `nil` if absent.
    static func recorded(of file: borrowing OpenFile) throws -> RecordedContent? {
        try file.withAttribute(name) {
            RecordedContent(
                record: record($0), versionTag: versionTag(in: $0), revision: revision(in: $0), expires: expires(in: $0)
            )
        }
    }

    private static func hexadecimal<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: Number.bitWidth / 4 - digits.count) + digits
    }

    /// The version tag, found without parsing.
    private static func versionTag(in bytes: UnsafeRawBufferPointer) -> String? {
        guard let text = member(versionTagMember, in: bytes),
            let end = text.firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        let tag = text[..<end]
        // An escape is rare, and left to the decoder.
        guard !tag.contains(UInt8(ascii: "\\")) else { return decoded(Array(bytes)).versionTag }
        return String(validating: tag, as: UTF8.self)
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
        guard let start = bytes.baseAddress, bytes.count > member.count,
            let found = (0..<bytes.count - member.count).first(where: {
                bytes[$0] == member[0] && memcmp(start + $0, member, member.count) == 0
            })
        else { return nil }
        return bytes[(found + member.count)...]
    }

    private static let versionTagMember = Array(",\"versionTag\":\"".utf8)
    private static let revisionMember = Array(",\"revision\":\"".utf8)
    private static let expiresMember = Array(",\"expires\":".utf8)

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

    /// All attributes of a file with this status.
    static func attributes(of file: borrowing OpenFile, _ status: FileStatus) throws -> ValueAttributes {
        var attributes = try file.attribute(name).map(decoded) ?? ValueAttributes()
        attributes.size = UInt64(status.size)
        attributes.modified = status.modified
        return attributes
    }

    /// The attributes in an extended attribute; unknown ones if it is not decodable.
    static func decoded(_ bytes: [UInt8]) -> ValueAttributes {
        (try? JSONDecoder().decode(ValueAttributes.self, from: Data(bytes)))?.kept ?? ValueAttributes()
    }
}
