/// What is kept beside a value, by stores that keep it. `nil` means unknown.
public struct ValueAttributes: Hashable, Sendable {
    /// The media type of the bytes.
    public var contentType: String?
    /// The serializer's format, e.g. `json`.
    public var serializer: String?
    /// The version of the value's type.
    public var versionTag: String?
    /// The version of the app that wrote the value.
    public var appVersion: String?
    /// Who owns the key.
    public var owner: String?
    /// The value's size in bytes; filled in by the store on reading, ignored on writing.
    public var size: UInt64?
    /// When the value was written, in nanoseconds since 1970 UTC; filled in by the store, ignored on writing.
    public var modified: Int64?

    /// Creates attributes.
    public init(
        contentType: String? = nil, serializer: String? = nil, versionTag: String? = nil, appVersion: String? = nil,
        owner: String? = nil, size: UInt64? = nil, modified: Int64? = nil
    ) {
        self.contentType = contentType
        self.serializer = serializer
        self.versionTag = versionTag
        self.appVersion = appVersion
        self.owner = owner
        self.size = size
        self.modified = modified
    }
}
