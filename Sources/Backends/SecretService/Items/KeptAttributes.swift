internal import FoundationEssentials
internal import LocalDataAPI

/// A value's attributes in one attribute of its item: JSON with sorted keys, so that equal attributes are equal texts.
struct KeptAttributes: Codable {
    private let contentType: String?
    private let serializer: String?
    private let versionTag: String?
    private let appVersion: String?
    private let owner: String?

    /// The text for attributes; `{}` if nothing is known.
    static func text(_ attributes: ValueAttributes?) throws -> String {
        let kept = KeptAttributes(
            contentType: attributes?.contentType, serializer: attributes?.serializer,
            versionTag: attributes?.versionTag, appVersion: attributes?.appVersion, owner: attributes?.owner)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(kept), as: UTF8.self)
    }

    /// The attributes in a text; unknown ones if it is missing or not decodable.
    static func attributes(_ text: String?) -> ValueAttributes {
        guard let text, let kept = try? JSONDecoder().decode(KeptAttributes.self, from: Data(text.utf8)) else {
            return ValueAttributes()
        }
        return ValueAttributes(
            contentType: kept.contentType, serializer: kept.serializer, versionTag: kept.versionTag,
            appVersion: kept.appVersion, owner: kept.owner)
    }
}
