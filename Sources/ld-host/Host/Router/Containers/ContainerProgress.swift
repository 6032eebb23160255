internal import LocalDataAPI

/// The result of migrating a container.
public struct ContainerProgress: Hashable, Sendable {
    /// The version that the data had; `nil` if there was none.
    public let from: Int?
    /// The version that it has now: the code's.
    public let to: Int
    /// The versions that steps of this call have led to.
    public let steps: [Int]
    /// Whether all removals of the last step are done. If not, the log says why, and the next call tries again.
    public var isClean = true
}
