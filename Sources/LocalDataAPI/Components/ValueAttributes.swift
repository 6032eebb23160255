/// Attributes that some stores keep beside a value. `nil` means unknown.
public struct ValueAttributes: Hashable, Sendable {
    /// The media type of the bytes.
    public var contentType: String?
    /// The serializer's format, e.g. `json`.
    public var serializer: String?
    /// The version of the value's type.
    public var versionTag: String?
    /// The version of the app that wrote the value.
    public var appVersion: String?
    /// The key's owner.
    public var owner: String?
    /// The value's size in bytes; the store fills it in on reading and ignores it on writing.
    public var size: UInt64?
    /// When the value was written, in nanoseconds since 1970 UTC; the store fills it in and ignores it on writing.
    public var modified: Int64?
    /// When the value expires, in nanoseconds since 1970 UTC: from then on it counts as absent. `nil` means never. Only
    /// a store with the ability ``ExpiringBackend`` keeps it; any other refuses it.
    public var expires: Int64?

    /// Creates attributes.
    public init(
        contentType: String? = nil, serializer: String? = nil, versionTag: String? = nil, appVersion: String? = nil,
        owner: String? = nil, size: UInt64? = nil, modified: Int64? = nil, expires: Int64? = nil
    ) {
        self.contentType = contentType
        self.serializer = serializer
        self.versionTag = versionTag
        self.appVersion = appVersion
        self.owner = owner
        self.size = size
        self.modified = modified
        self.expires = expires
    }
}
