internal import HostGround
package import HostSealing
internal import LocalDataAPI

/// The public facts about a key, without the key.
public struct KeyDescription: Encodable, Sendable {
    /// 32 hexadecimal digits.
    public let id: String
    /// `active`, `decrypt-only` or `disabled`.
    public let state: String
    /// When the key was created, in seconds since 1970 UTC.
    public let created: Int64
    /// The number of values that it seals, if they were counted.
    public let values: Int?

    package init(_ entry: KeyRingState.Entry, values: Int? = nil) {
        id = "\(entry.id)"
        state = "\(entry.use)"
        created = entry.created
        self.values = values
    }

    private enum CodingKeys: CodingKey {
        case id, state, created, values
    }

    /// Writes the time as text, e.g. `2026-01-31T12:00:00Z`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(state, forKey: .state)
        try container.encode(JSONTime(seconds: created), forKey: .created)
        try container.encodeIfPresent(values, forKey: .values)
    }
}
