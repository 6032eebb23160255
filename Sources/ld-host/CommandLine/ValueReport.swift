internal import FoundationEssentials
internal import LocalDataAPI

/// A value with what is known of it, as JSON shows it: as text if it is UTF-8, in base64 otherwise.
struct ValueReport: Encodable {
    private let address: String
    private let size: Int
    private let text: String?
    private let base64: String?
    private let contentType: String?
    private let serializer: String?
    private let appVersion: String?
    private let owner: String?
    private let modified: Int64?

    init(address: String, data: Data, attributes: ValueAttributes?) {
        self.address = address
        size = data.count
        text = String(validating: data, as: UTF8.self)
        base64 = text == nil ? data.base64EncodedString() : nil
        contentType = attributes?.contentType
        serializer = attributes?.serializer
        appVersion = attributes?.appVersion
        owner = attributes?.owner
        modified = attributes?.modified
    }
}
