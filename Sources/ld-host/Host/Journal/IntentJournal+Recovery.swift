package import LocalDataAPI

extension IntentJournal {
    /// Resumes interrupted work, in the order of its creation.
    ///
    /// One process recovers each intent, however many try at once; the others find it in progress and do not wait. If a
    /// handler fails, its intent stays for the next recovery, is reported, and does not stop the others. Intents of
    /// unknown kinds and unreadable files stay and are reported.
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
            // Another process was faster, and is recovering it or done.
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
