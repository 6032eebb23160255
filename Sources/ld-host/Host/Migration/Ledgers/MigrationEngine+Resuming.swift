internal import FoundationEssentials
internal import HostGround
package import HostStores
internal import LocalDataAPI

extension MigrationEngine {
    /// Finishes what was interrupted.
    ///
    /// - Parameter before: The batches that were interrupted, as they were before this snapshot was used.
    package func resume(after before: [PendingIntent]) async throws -> MigrationResumption {
        let snapshot = snapshot
        try await onIOThread { () throws(StorageError) in BatchRecovery(snapshot: snapshot).recoverAndSettle() }
        let waiting = try await MigrationNotes(snapshot).interruptedBatches()
        let isWaiting = Set(waiting.map(\.id))
        let survey = await ledgers()
        var entries: [MigrationResumption.Entry] = []
        for (place, page) in survey.readable {
            for row in page.rows
            where [.published, .copying, .unverified].contains(row.state) && !row.isOnlyOnDemand {
                entries.append(
                    row.bulk == nil
                        ? await resume(row.id, survey, place)
                        : await goOn(row.id, place.address, undoing: row.bulk?.isUndone == true))
            }
        }
        return MigrationResumption(
            batches: before.filter { !isWaiting.contains($0.id) }.map(\.subject), waiting: waiting.map(\.subject),
            entries: entries,
            failures: survey.allFailures.map(\.message))
    }

    private func goOn(
        _ id: String, _ destination: String, undoing: Bool
    ) async -> MigrationResumption.Entry {
        do {
            guard case .bulk(let migration)? = try await knownMigrations().first(where: { $0.id == id }) else {
                throw MigrationError(.unresolvedDependency, "this program does not know it; configure its pack again")
            }
            if undoing {
                try await rollbackRange(id) { _ in }
            } else {
                _ = try await migrate(migration, onConflict: nil)
            }
            return MigrationResumption.Entry(migration: id, destination: destination, isDone: true)
        } catch {
            return MigrationResumption.Entry(
                migration: id, destination: destination, isDone: false, problem: "it cannot be resumed: \(error)")
        }
    }

    private func resume(
        _ id: String, _ survey: LedgerSurvey, _ place: LedgerSurvey.Page
    ) async -> MigrationResumption.Entry {
        func entry(_ problem: String?) -> MigrationResumption.Entry {
            MigrationResumption.Entry(
                migration: id, destination: place.address, isDone: problem == nil, problem: problem)
        }
        do {
            return try await MigrationTurns.shared.alone(in: place.open, snapshot) {
                let ledger = try survey.ledger(of: place)
                var page = try await ledger.page()
                // Somebody else may have been at it meanwhile.
                guard let row = page[id], row.state != .clean else { return entry(nil) }
                guard try await ledger.hasCome(row) else {
                    let problem =
                        switch row.state {
                        case .copying: "its large value is not at its destination"
                        case .unverified: "the values that it wrote did not read back"
                        default: "the values that it wrote are not at their destinations"
                        }
                    return entry("\(problem); the next run repeats it")
                }
                do { try await ledger.clean(row, in: &page) } catch {
                    guard row.state == .copying else { throw error }
                    ledger.logPending(id, error)
                    return entry("its old values cannot be removed")
                }
                return entry(nil)
            }
        } catch {
            let reason = StorageError(wrapping: error).message
            return entry("its old values cannot be removed: \(reason)")
        }
    }
}
