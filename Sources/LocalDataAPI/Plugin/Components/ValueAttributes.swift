/// Attributes that some stores keep beside a value. `nil` means unknown.
///
/// As JSON they are an object of the known ones. A store without attributes of its own can keep that as text beside the
/// value; it encodes ``kept``.
public struct ValueAttributes: Hashable, Sendable, Codable {
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

    /// The attributes to keep with a value: without size and time, which the store fills in.
    public var kept: ValueAttributes {
        var attributes = self
        attributes.size = nil
        attributes.modified = nil
        return attributes
    }
}
