import Glibc

/// A batch that could not be applied durably, or not be completed, and what holds now.
package struct DurableBatchError: Error, Hashable, Sendable {
    /// What readers find, now and later.
    package enum Outcome: Hashable, Sendable {
        /// What was there before.
        case unchanged
        /// What was asked for; but after a power loss it may be what was there before.
        case durabilityUnknown
        /// The batch is committed and in place in part. The next change, or whoever opens the root next, goes on with
        /// it.
        case incomplete
        /// What was there before: an earlier batch, committed and in place in part, comes first and cannot be
        /// completed.
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
    /// Whether the disk is sound, so that values can be read: this process may not complete the batch, another one is
    /// completing it, or its journal says what nobody may do.
    package var leavesReading: Bool {
        cause.isRefusal || [ETIMEDOUT, EBADMSG, ELOOP].contains(cause.code)
    }
}

extension DurableBatchError: CustomStringConvertible {
    /// The failure and what holds now, as a sentence.
    package var description: String {
        switch outcome {
        case .unchanged: "cannot apply a batch, nothing has changed: \(cause)"
        case .durabilityUnknown: "the batch is applied, but that may not survive a power loss: \(cause)"
        case .incomplete: "the batch in '\(journal)' is committed, but not wholly in place yet: \(cause)"
        case .blocked: "the batch in '\(journal)' was interrupted, and cannot be completed: \(cause)"
        }
    }
}
