/// How far a step of a long run is.
public struct StepProgress: Hashable, Sendable {
    /// What is done: `comparing`.
    public let step: String
    /// How many values are done.
    public let done: Int
    /// Of how many.
    public let total: Int

    package init(step: String, done: Int, total: Int) { (self.step, self.done, self.total) = (step, done, total) }
}
