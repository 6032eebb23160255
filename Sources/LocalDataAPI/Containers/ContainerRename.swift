/// One move of several that are made at once.
public struct ContainerRename: Hashable, Sendable {
    /// The key before.
    public let from: ContainerKey
    /// The key after.
    public let to: ContainerKey

    /// A move.
    public init(_ from: ContainerKey, to: ContainerKey) {
        self.from = from
        self.to = to
    }
}
