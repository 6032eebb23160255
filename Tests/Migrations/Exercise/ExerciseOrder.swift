/// A command that the program `migration-exercise serve` runs in a process that it forks. A campaign runs some hundred
/// thousand of them, so each is spared to load the program, its libraries and the plugins again.
package struct ExerciseOrder: Codable, Sendable {
    /// The program's words.
    package let words: [String]
    /// The settings of the fault injector. Others have no value.
    package let faults: [String: String]
    /// The files that standard output and standard error are written to.
    package let output: String
    package let errors: String

    /// The settings that each order has its own of.
    package static let settings = [
        "LD_FAULT_LOG", "LD_FAULT_AT", "LD_FAULT_MODE", "LD_FAULT_EVERY", "LD_FAULT_COUNT",
    ]

    /// How many seconds a command may take, however busy the machine is.
    package static let limit: UInt32 = 600

    package init(words: [String], faults: [String: String], output: String, errors: String) {
        (self.words, self.faults, self.output, self.errors) = (words, faults, output, errors)
    }
}
