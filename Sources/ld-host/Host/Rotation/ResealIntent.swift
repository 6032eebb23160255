internal import FoundationEssentials
internal import LocalDataAPI

/// The journal's entry of a ring that is being resealed: only one process reseals at a time, and the next one learns of
/// an interruption. The values themselves show what is done.
enum ResealIntent {
    static let kind = "reseal"

    /// Takes over the entry of an interrupted run, or writes a new one.
    ///
    /// - Parameter isNeeded: Whether there is work; if not, there is an entry only after an interruption.
    /// - Throws: `busy` if another process is resealing.
    static func take(
        _ scan: SealedScan, to key: KeyID, isNeeded: Bool
    ) throws(StorageError) -> Intent? {
        let journal = try IntentJournal(folder: scan.snapshot.settings.folders.journal)
        for pending in try journal.pending(kind: kind) where pending.payload == payload(of: scan) {
            guard pending.state == .interrupted else {
                throw StorageError(
                    .busy, "process \(pending.owner) is running: \(pending.subject)", hint: "wait until it is done")
            }
            return try journal.adopt(pending.id)
        }
        guard isNeeded else { return nil }
        return try journal.begin(
            kind: kind, subject: "re-encrypting under the key \(key) of \(scan.ring.name)", payload: payload(of: scan))
    }

    private static func payload(of scan: SealedScan) -> Data { Data(scan.ring.file.utf8) }
}
