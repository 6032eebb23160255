/// What copying one store to another does, or would do.
public struct StoreCopyReport: Encodable, Sendable {
    /// The store that values are copied from.
    public let from: String
    /// The store that they are copied to.
    public let to: String
    /// Values in the source.
    public var total = 0
    /// Values that were, or would be, copied.
    public var copied = 0
    /// Values that the destination has already, byte for byte.
    public var equal = 0
    /// Values of which the destination has another, by address.
    public var conflicts: [String] = []
    /// Values that were, or would be, removed from the source.
    public var removed = 0
    /// The host's own keys that were, or would be, left in the source as well, because the source serves the keychain:
    /// what they seal would not open without them.
    public var kept: [String] = []
    /// Values that other processes changed while they were copied or moved, by address. A changed source stays where it
    /// is, and so does a changed destination.
    public var changed: [String] = []
    /// Values that could not be read, with the reason; they stay where they are.
    public var failures: [String: String] = [:]
}
