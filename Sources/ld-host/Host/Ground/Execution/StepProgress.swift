/// The progress of a step in a long run.
public struct StepProgress: Hashable, Sendable {
    /// The step: `comparing`.
    public let step: String
    /// The number of completed values.
    public let done: Int
    /// The number of all values.
    public let total: Int

    package init(step: String, done: Int, total: Int) { (self.step, self.done, self.total) = (step, done, total) }
}
