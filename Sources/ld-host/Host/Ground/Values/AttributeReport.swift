package import LocalDataAPI

/// What is known of a value, as JSON shows it.
package struct AttributeReport: Encodable, Sendable {
    package let contentType: String?
    package let serializer: String?
    package let versionTag: String?
    package let appVersion: String?
    package let owner: String?
    private let size: UInt64?
    private let modified: JSONTime?
    private let expires: JSONTime?

    package init(_ attributes: ValueAttributes) {
        contentType = attributes.contentType
        serializer = attributes.serializer
        versionTag = attributes.versionTag
        appVersion = attributes.appVersion
        owner = attributes.owner
        size = attributes.size
        modified = attributes.modified.map { JSONTime(nanoseconds: $0) }
        expires = attributes.expires.map { JSONTime(nanoseconds: $0) }
    }
}
