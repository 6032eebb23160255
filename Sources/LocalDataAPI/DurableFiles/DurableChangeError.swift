/// A file that could not be replaced or removed durably, and what holds now.
package struct DurableChangeError: Error, Hashable, Sendable {
    /// What was to happen to the file.
    package enum Change: String, Hashable, Sendable {
        case replace, remove
    }

    /// What a reader finds after the failure.
    package enum Outcome: Hashable, Sendable {
        /// What was there before.
        case unchanged
        /// What was asked for; but after a power loss it may be what was there before.
        case durabilityUnknown
    }

    /// What was to happen.
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
    /// The failure and what holds now, as a sentence.
    package var description: String {
        switch outcome {
        case .unchanged: "cannot \(change) '\(path)', what was there before stands: \(cause)"
        case .durabilityUnknown: "'\(path)' is \(change)d, but that may not survive a power loss: \(cause)"
        }
    }
}
