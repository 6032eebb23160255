internal import LocalDataAPI

/// What is to be known before migrations run: work that was interrupted, and is completed first; and what is moved
/// without a migration.
struct MigrationNotes: Sendable {
    let snapshot: RouterSnapshot

    init(_ snapshot: RouterSnapshot) { self.snapshot = snapshot }

    /// In sentences. Touches nothing.
    func all() async throws(StorageError) -> [String] {
        try await onIOThread { () throws(StorageError) in
            let survey = try IntentJournal(folder: self.snapshot.settings.folders.journal).survey()
            return survey.pending.compactMap { intent in
                guard intent.kind == BatchIntent.kind else { return nil }
                return intent.state == .interrupted
                    ? "\(intent.subject) was interrupted; it is completed first, and may change what is planned"
                    : "process \(intent.owner) is at \(intent.subject), which may change what is planned"
            } + survey.unreadable.map(\.error.message) + UnmovedValues.all(self.snapshot).map(\.text)
        }
    }

    /// The batches that were interrupted.
    func interruptedBatches() async throws(StorageError) -> [PendingIntent] {
        try await onIOThread { () throws(StorageError) in
            try IntentJournal(folder: self.snapshot.settings.folders.journal).pending(kind: BatchIntent.kind)
                .filter { $0.state == .interrupted }
        }
    }
}
