internal import FoundationEssentials
internal import LocalDataAPI

/// The journal's entry of a store that is being copied: one process at a time, and whoever comes after an interruption
/// is told. What is done and what is not shows in the stores themselves.
enum CopyIntent {
    static let kind = "copy"

    /// Takes over the entry of a run that was interrupted, or writes down what begins.
    ///
    /// - Throws: `busy` if another process is at it.
    static func take(
        from: String, to: String, moving: Bool, folder: String
    ) throws(StorageError) -> Intent {
        let journal = try IntentJournal(folder: folder)
        let payload = Data("\(from)\0\(to)".utf8)
        for pending in try journal.pending(kind: kind) where pending.payload == payload {
            guard pending.state == .interrupted else {
                throw StorageError(
                    .busy, "process \(pending.owner) is at it: \(pending.subject)", hint: "wait until it is done")
            }
            return try journal.adopt(pending.id)
        }
        return try journal.begin(
            kind: kind, subject: "\(moving ? "moving" : "copying") store '\(from)' to store '\(to)'", payload: payload)
    }

    /// What goes on with an interrupted run.
    static func command(_ intent: PendingIntent) -> String {
        let names = intent.payload.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        let flag = intent.subject.hasPrefix("moving") ? " --move" : ""
        return "ld-host store copy \(names.joined(separator: " "))\(flag)"
    }
}
