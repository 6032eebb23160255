internal import LocalDataAPI
internal import LocalDataHost

/// The header of an answer: of what does not concern it nothing is written.
struct PipeResponse: Encodable {
    /// Why a request, or everything from here on, failed.
    struct Failure: Encodable {
        let code: String
        let message: String
        let hint: String
    }

    /// What is kept beside a value.
    struct Attributes: Encodable {
        let contentType: String?
        let serializer: String?
        let versionTag: String?
        let appVersion: String?
        let owner: String?
        let size: UInt64?
        let modified: Int64?

        init(_ attributes: ValueAttributes) {
            contentType = attributes.contentType
            serializer = attributes.serializer
            versionTag = attributes.versionTag
            appVersion = attributes.appVersion
            owner = attributes.owner
            size = attributes.size
            modified = attributes.modified
        }
    }

    /// The request's; `nil` if no request can be named.
    var id: UInt64?
    var error: Failure?
    var removed: Bool?
    var exists: Bool?
    var names: [String]?
    var more: Bool?
    var attributes: Attributes?
    var `protocol`: Int?
    var version: String?
    var abi: String?
    var longestValue: Int?
}
