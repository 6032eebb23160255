internal import HostGround
internal import LocalDataAPI

/// What a store knows of one of its values.
public struct CopyVersion: Encodable, Sendable {
    /// When it was written, in nanoseconds since 1970 UTC by the store's clock; `nil` if the store does not keep that.
    public let modified: Int64?
    /// The size in bytes; `nil` if the store does not keep it.
    public let size: UInt64?

    init(_ attributes: ValueAttributes) { (modified, size) = (attributes.modified, attributes.size) }

    private enum CodingKeys: CodingKey {
        case modified, size
    }

    /// Writes the time as text, e.g. `2026-01-31T12:00:00.000000250Z`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(modified.map { JSONTime(nanoseconds: $0) }, forKey: .modified)
        try container.encodeIfPresent(size, forKey: .size)
    }

    /// The time of writing; `nil` if it is not known, or the store keeps whole seconds only: two values may have the
    /// same one.
    var time: Int64? {
        guard let modified, modified % 1_000_000_000 != 0 else { return nil }
        return modified
    }
}
