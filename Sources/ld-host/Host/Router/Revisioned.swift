public import FoundationEssentials
internal import HostGround
internal import HostPlugins
internal import LocalDataAPI

/// A value, the revision of the write that stored it, and the time that this write gave it.
public struct Revisioned<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value
    /// Identifies its write.
    public let revision: StorageRevision
    /// When the value expires; `nil` if never.
    public let expires: Date?

    init(_ value: Value, _ stored: RevisionedData) {
        self.value = value
        revision = StorageRevision(stored.revision)
        expires = stored.attributes.expires.map { Date(nanoseconds: $0) }
    }
}
