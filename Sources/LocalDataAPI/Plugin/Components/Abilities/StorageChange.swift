#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// One change in a batch.
public struct StorageChange<Key: Sendable>: Sendable {
    /// The key that changes.
    public let key: Key
    /// The new value, or `nil` to remove it; removing an absent value is fine.
    public let value: Data?
    /// The value's attributes.
    public let attributes: ValueAttributes?

    /// Describes a change.
    public init(key: Key, value: Data?, attributes: ValueAttributes? = nil) {
        self.key = key
        self.value = value
        self.attributes = attributes
    }
}
