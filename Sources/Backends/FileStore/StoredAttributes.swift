import DurableFiles
import FoundationEssentials
import LocalDataAPI

/// What stands in a file's extended attribute: JSON of the attributes that are known, with sorted keys. Size and time of
/// change are the file's own.
struct StoredAttributes: Codable {
    /// The extended attribute's name.
    static let name = CString("user.localdata".utf8)

    private let contentType: String?
    private let serializer: String?
    private let versionTag: String?
    private let appVersion: String?
    private let owner: String?

    /// Takes what is to be kept; `nil` if that is nothing.
    init?(_ attributes: ValueAttributes) {
        contentType = attributes.contentType
        serializer = attributes.serializer
        versionTag = attributes.versionTag
        appVersion = attributes.appVersion
        owner = attributes.owner
        guard contentType != nil || serializer != nil || versionTag != nil || appVersion != nil || owner != nil else {
            return nil
        }
    }

    /// The attribute for a file that is written.
    func encoded() throws -> FileAttribute {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return FileAttribute(Self.name, Array(try encoder.encode(self)))
    }

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
