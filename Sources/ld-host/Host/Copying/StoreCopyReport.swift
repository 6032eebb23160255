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
    /// Values that could not be read, with the reason; they stay where they are.
    public var failures: [String: String] = [:]
}
