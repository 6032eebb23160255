/// Names that were set or removed.
public struct ChangedNames: Hashable, Sendable {
    /// Each once, ascending by their UTF-8 bytes.
    public let names: [String]
    /// Whether others may have changed too, because the store could not say which.
    public let mayBeMore: Bool

    package init(names: [String], mayBeMore: Bool) {
        self.names = names
        self.mayBeMore = mayBeMore
    }
}
