internal import FoundationEssentials
internal import LocalDataAPI

/// The journal's entry of a ring that is being sealed anew: one process at a time, and whoever comes after an
/// interruption is told. What is done and what is not shows in the values themselves.
enum ResealIntent {
    static let kind = "reseal"

    /// Takes over the entry of a run that was interrupted, or writes down what begins.
    ///
    /// - Parameter isNeeded: Whether anything is to be done; if not, there is an entry only after an interruption.
    /// - Throws: `busy` if another process is at it.
    static func take(
        _ scan: SealedScan, to key: KeyID, isNeeded: Bool
    ) throws(StorageError) -> Intent? {
        let journal = try IntentJournal(folder: scan.snapshot.settings.folders.journal)
        for pending in try journal.pending(kind: kind) where pending.payload == payload(of: scan) {
            guard pending.state == .interrupted else {
                throw StorageError(
                    .busy, "process \(pending.owner) is at it: \(pending.subject)", hint: "wait until it is done")
            }
            return try journal.adopt(pending.id)
        }
        guard isNeeded else { return nil }
        return try journal.begin(
            kind: kind, subject: "re-encrypting under the key \(key) of \(scan.ring.name)", payload: payload(of: scan))
    }

    private static func payload(of scan: SealedScan) -> Data { Data(scan.ring.file.utf8) }
}
