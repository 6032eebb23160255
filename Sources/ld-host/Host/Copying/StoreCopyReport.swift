/// The result of copying one store to another, or the plan for it.
public struct StoreCopyReport: Encodable, Sendable {
    /// The store to copy from.
    public let from: String
    /// The store to copy to.
    public let to: String
    /// The number of values in the source.
    public var total = 0
    /// The number of values that were, or would be, copied.
    public var copied = 0
    /// The number of values that the destination already has, byte for byte.
    public var equal = 0
    /// The addresses at which the destination has a different value.
    public var conflicts: [String] = []
    /// The number of values that were, or would be, removed from the source.
    public var removed = 0
    /// The host keys that were, or would be, left in the source as well, because the source serves the keychain: the
    /// values that they seal would not open without them.
    public var kept: [String] = []
    /// The addresses of values that other processes changed while they were copied or moved. A changed source or
    /// destination stays as it is.
    public var changed: [String] = []
    /// Values that could not be read, with the reason; they stay where they are.
    public var failures: [String: String] = [:]
}
