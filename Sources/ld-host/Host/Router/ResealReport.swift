internal import LocalDataAPI

/// The result of a reseal, or the plan for it.
public struct ResealReport: Encodable, Sendable {
    /// The active key, under which values are sealed.
    public let key: String
    /// The number of values that the ring seals.
    public var total = 0
    /// The number of values that were, or would be, re-encrypted: those sealed with another key, and in a sealed store
    /// those sealed with another cipher than the configured one.
    public var resealed = 0
    /// How many of them each key had sealed.
    public var others: [String: Int] = [:]
    /// How many of them earlier key rings had sealed, by `service/account`.
    public var earlierRings: [String: Int] = [:]
    /// Values that could not be opened, with the reason; they stay as they are.
    public var failures: [String: String] = [:]
}
