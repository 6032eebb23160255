/// The format that a serializer writes, as attributes and reports name it.
public enum SerializerFormat: String, Codable, CaseIterable, Hashable, Sendable, CustomStringConvertible {
    /// JSON.
    case json
    /// A binary property list.
    case plist
    /// Text in UTF-8, as other programs write it.
    case text
    /// Bytes as they are.
    case data
    /// The app's own functions.
    case custom

    /// The format's name.
    public var description: String { rawValue }

    /// The media type of bytes in this format.
    public var contentType: String {
        switch self {
        case .json: "application/json"
        case .plist: "application/x-plist"
        case .text: "text/plain"
        case .data, .custom: "application/octet-stream"
        }
    }
}
