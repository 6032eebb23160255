package import LocalDataAPI

extension IntentJournal {
    /// Goes on with what was interrupted, in the order of its making.
    ///
    /// Each intent is recovered by one process, however many come at once; the others find it in progress and do not
    /// wait. A handler that fails leaves its intent, for whoever recovers next, is in the report, and stops no other.
    /// Intents of unknown kinds and files that cannot be read are left and are in the report.
    ///
    /// - Throws: `permissionDenied` or `fileError` if the folder cannot be read.
    package func recover(with recovery: JournalRecovery) throws(StorageError) -> JournalReport {
        let survey = try survey()
        var report = JournalReport()
        report.unreadable = survey.unreadable
        for intent in survey.pending {
            switch (intent.state, recovery.handlings[intent.kind]) {
            case (.inProgress, _): report.inProgress.append(intent)
            case (.interrupted, .onDemand): report.waiting.append(intent)
            case (.interrupted, nil): report.unknown.append(intent)
            case (.interrupted, .atOpen(let handler)): recover(intent, with: handler, into: &report)
            }
        }
        return report
    }

    private func recover(
        _ pending: PendingIntent, with handler: JournalRecovery.Handler, into report: inout JournalReport
    ) {
        let intent: Intent
        do throws(StorageError) {
            intent = try adopt(pending.id)
        } catch {
            // Another process was quicker, and is at it or done.
            switch error.code {
            case .notFound: break
            case .busy: report.inProgress.append(pending)
            default: report.failures.append(JournalReport.Failure(intent: pending, error: error))
            }
            return
        }
        do {
            try handler(intent)
            try intent.finish()
            report.recovered.append(pending)
        } catch {
            report.failures.append(JournalReport.Failure(intent: pending, error: StorageError(file: error)))
        }
    }
}
