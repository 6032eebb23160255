internal import LocalDataPluginAPI
internal import ServerAccess

extension Pool {
    /// Makes changes, all or none, in order. Repeats them where the server has certainly made none: after a conflict
    /// with another transaction, and after a lost connection whose changes are fenced off.
    ///
    /// - Parameter work: What the changes do, for errors.
    /// - Throws: `timedOut` if the outcome is unknown; after any other error, nothing has changed.
    func change(_ writes: [Write], _ work: @autoclosure () -> String) throws -> Changed {
        var (writes, attempts) = (writes, 0)
        let deadline = deadline()
        while true {
            // Some time remains to find the outcome.
            let change = ChangeAttempt(pool: self, writes: writes, deadline: deadline.part(3, of: 4))
            attempts += 1
            do {
                let failed = try change.make()
                if let name = change.leftOut { throw StorageError.leftOut(name, of: writes.count, work(), change.host) }
                return Changed(
                    failed: failed, numbers: change.numbers, removed: change.found > 0 && change.isLive,
                    revision: change.writes.first?.revision ?? 0)
            } catch LinkFailure.refused(let error) where error.isConflict && deadline.left > 0 {
            } catch LinkFailure.refused(let error) where error.isStalePlan && attempts <= options.poolSize {
            } catch LinkFailure.refused(let error) {
                throw StorageError(error, work(), change.host)
            } catch LinkFailure.lost(let loss) {
                guard loss.wasSent, let link = change.link else { throw StorageError(loss, work()) }
                switch change.outcome(on: link, until: deadline) {
                case .done(let found):
                    return Changed(
                        failed: [], numbers: [], removed: found, revision: change.writes.first?.revision ?? 0)
                case .notDone:
                    guard !loss.isLate, deadline.left > 0 else { throw StorageError(loss, work()) }
                case .unknown: throw StorageError.unknownOutcome(loss, work())
                }
            }
            writes = writes.map { $0.again() }
        }
    }
}

/// The result of changes.
struct Changed {
    /// The indices of changes whose condition did not hold. If there are any, nothing has changed.
    let failed: [Int]
    /// The numbers that the sequence `change` gave to the changes, as far as they are known.
    let numbers: [Int64]
    /// Whether the last change found a value that had not expired.
    let removed: Bool
    /// The new revision of the first change.
    let revision: Int64
}
