internal import FoundationEssentials
internal import LocalDataAPI

/// The journal's entry of a store copy: only one process copies at a time, and the next one learns of an interruption.
/// The stores themselves show what is done.
enum CopyIntent {
    static let kind = "copy"

    /// Takes over the entry of an interrupted run, or writes a new one.
    ///
    /// - Throws: `busy` if another process is copying.
    static func take(
        from: String, to: String, domains: [String], moving: Bool, folder: String
    ) throws(StorageError) -> (intent: Intent, isResumed: Bool) {
        let journal = try IntentJournal(folder: folder)
        let payload = payload(from, to, domains)
        if let interrupted = try interrupted(payload, journal) { return (interrupted, true) }
        let what = domains.isEmpty ? "" : "\(domains.joined(separator: ", ")) of "
        let intent = try journal.begin(
            kind: kind, subject: "\(moving ? "moving" : "copying") \(what)store '\(from)' to store '\(to)'",
            payload: payload)
        return (intent, false)
    }

    /// Whether a run from one store to another was interrupted, whatever its domains.
    static func isInterrupted(from: String, to: String, folder: String) throws(StorageError) -> Bool {
        try IntentJournal(folder: folder).pending(kind: kind).contains {
            $0.state == .interrupted && names($0).prefix(2) == [from, to]
        }
    }

    private static func names(_ intent: PendingIntent) -> [String] {
        intent.payload.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Forgets an interrupted run.
    ///
    /// - Throws: `notFound` if it is absent; `busy` if a process is copying.
    static func giveUp(from: String, to: String, domains: [String], folder: String) throws(StorageError) {
        let journal = try IntentJournal(folder: folder)
        guard let intent = try interrupted(payload(from, to, domains), journal) else {
            throw StorageError(
                .notFound, "no copy of store '\(from)' to store '\(to)' was interrupted", hint: "see: ld-host doctor")
        }
        try intent.finish()
    }

    private static func interrupted(_ payload: Data, _ journal: IntentJournal) throws(StorageError) -> Intent? {
        for pending in try journal.pending(kind: kind) where pending.payload == payload {
            guard pending.state == .interrupted else {
                throw StorageError(
                    .busy, "process \(pending.owner) is running: \(pending.subject)", hint: "wait until it is done")
            }
            return try journal.adopt(pending.id)
        }
        return nil
    }

    private static func payload(_ from: String, _ to: String, _ domains: [String]) -> Data {
        Data(([from, to] + domains).joined(separator: "\0").utf8)
    }

    /// The command that resumes an interrupted run, or gives it up.
    static func command(_ intent: PendingIntent, givingUp: Bool = false) -> String {
        let names = names(intent)
        let domains = names.dropFirst(2).map { " --domain \($0)" }.joined()
        let flag = givingUp ? " --give-up" : intent.subject.hasPrefix("moving") ? " --move" : ""
        return "ld-host store copy \(names.prefix(2).joined(separator: " "))\(domains)\(flag)"
    }
}
