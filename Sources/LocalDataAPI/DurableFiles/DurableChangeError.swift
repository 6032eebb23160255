/// A file that could not be replaced or removed durably, and the outcome.
package struct DurableChangeError: Error, Hashable, Sendable {
    /// The intended change.
    package enum Change: String, Hashable, Sendable {
        case replace, remove
    }

    /// What a reader finds after the failure.
    package enum Outcome: Hashable, Sendable {
        /// The old state.
        case unchanged
        /// The new state; after a power loss it may be the old one.
        case durabilityUnknown
    }

    /// The intended change.
    package let change: Change
    /// The file.
    package let path: String
    /// What a reader finds now.
    package let outcome: Outcome
    /// The system call that failed.
    package let cause: SystemCallError

    /// Describes a failed change.
    package init(_ change: Change, path: String, outcome: Outcome, cause: SystemCallError) {
        self.change = change
        self.path = path
        self.outcome = outcome
        self.cause = cause
    }
}

extension DurableChangeError: CustomStringConvertible {
    /// The failure and the outcome, as a sentence.
    package var description: String {
        switch outcome {
        case .unchanged: "cannot \(change) '\(path)', the old state is kept: \(cause)"
        case .durabilityUnknown: "'\(path)' is \(change)d, but that may not survive a power loss: \(cause)"
        }
    }
}
