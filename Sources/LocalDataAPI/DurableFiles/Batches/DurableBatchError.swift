import Glibc

/// A batch that could not be applied durably or completed, and the outcome.
package struct DurableBatchError: Error, Hashable, Sendable {
    /// What readers find, now and later.
    package enum Outcome: Hashable, Sendable {
        /// The old state.
        case unchanged
        /// The new state; after a power loss it may be the old one.
        case durabilityUnknown
        /// The batch is committed and partly in place. The next change, or the next process that opens the root,
        /// resumes it.
        case incomplete
        /// The old state: an earlier batch that is committed and partly in place cannot be completed.
        case blocked
    }

    /// The journal of the batch.
    package let journal: String
    /// What readers find.
    package let outcome: Outcome
    /// The system call that failed.
    package let cause: SystemCallError
}

extension DurableBatchError {
    /// Whether values can still be read because the disk is sound: this process may not complete the batch, another one
    /// is completing it, or its journal demands changes that nobody may make.
    package var leavesReading: Bool {
        cause.isRefusal || [ETIMEDOUT, EBADMSG, ELOOP].contains(cause.code)
    }
}

extension DurableBatchError: CustomStringConvertible {
    /// The failure and the outcome, as a sentence.
    package var description: String {
        switch outcome {
        case .unchanged: "cannot apply a batch, nothing has changed: \(cause)"
        case .durabilityUnknown: "the batch is applied, but that may not survive a power loss: \(cause)"
        case .incomplete: "the batch in '\(journal)' is committed, but not completely in place yet: \(cause)"
        case .blocked: "the batch in '\(journal)' was interrupted and cannot be completed: \(cause)"
        }
    }
}
