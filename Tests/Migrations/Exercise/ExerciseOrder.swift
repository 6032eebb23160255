/// A command that `migration-exercise serve` runs in a forked process. A campaign runs several hundred thousand of
/// them, so a fork saves loading the program, its libraries and the plugins each time.
package struct ExerciseOrder: Codable, Sendable {
    /// The program's arguments.
    package let words: [String]
    /// The settings of the libraries that disturb it. Settings that are not listed have no value.
    package let faults: [String: String]
    /// The files that standard output and standard error are written to.
    package let output: String
    package let errors: String

    /// The settings that each order sets separately.
    package static let settings = [
        "LD_FAULT_LOG", "LD_FAULT_AT", "LD_FAULT_MODE", "LD_FAULT_EVERY", "LD_FAULT_COUNT", "LD_SEND_LOG", "LD_SEND_AT",
        "LD_SEND_MODE",
    ]

    /// The time limit of a command in seconds, however busy the machine is.
    package static let limit: UInt32 = 600

    package init(words: [String], faults: [String: String], output: String, errors: String) {
        (self.words, self.faults, self.output, self.errors) = (words, faults, output, errors)
    }
}
