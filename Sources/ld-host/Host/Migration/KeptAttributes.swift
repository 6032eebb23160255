internal import LocalDataAPI

/// A value's attributes, as records beside the ledger keep them.
struct KeptAttributes: Codable {
    let isThere: Bool
    let contentType: String?
    let serializer: String?
    let versionTag: String?
    let appVersion: String?
    let owner: String?
    let expires: Int64?

    init(_ attributes: ValueAttributes?) {
        isThere = attributes != nil
        contentType = attributes?.contentType
        serializer = attributes?.serializer
        versionTag = attributes?.versionTag
        appVersion = attributes?.appVersion
        owner = attributes?.owner
        expires = attributes?.expires
    }

    var attributes: ValueAttributes? {
        guard isThere else { return nil }
        return ValueAttributes(
            contentType: contentType, serializer: serializer, versionTag: versionTag, appVersion: appVersion,
            owner: owner, expires: expires)
    }
}
