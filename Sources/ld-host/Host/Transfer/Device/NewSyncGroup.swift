public import LocalDataAPI

/// A sync group that was just made.
public struct NewSyncGroup: Sendable {
    /// The group's recovery code, a secret. Only its public half is stored.
    public let recoveryCode: String
    /// What came of the first sync.
    public let report: Result<SyncReport, StorageError>

    package init(recoveryCode: String, report: Result<SyncReport, StorageError>) {
        self.recoveryCode = recoveryCode
        self.report = report
    }
}
