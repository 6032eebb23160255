internal import FoundationEssentials
internal import HostPlugins
package import HostStores
package import LocalDataAPI

/// The journal's entry of a store copy: only one process copies at a time, and the next one learns of an interruption.
/// The stores themselves show what is done.
package enum CopyIntent {
    package static let kind = "copy"

    /// Takes over the entry of an interrupted run, or writes a new one.
    ///
    /// - Throws: `busy` if another process is copying.
    package static func take(
        from: String, to: String, domains: [String], moving: Bool, folder: String
    ) throws(StorageError) -> (intent: Intent, isResumed: Bool) {
        let journal = try IntentJournal(folder: folder)
        let run = Run(isMove: moving, from: from, to: to, domains: domains)
        if let interrupted = try interrupted(run, journal) { return (interrupted, true) }
        let what = domains.isEmpty ? "" : "\(domains.joined(separator: ", ")) of "
        let intent = try journal.begin(
            kind: kind, subject: "\(moving ? "moving" : "copying") \(what)store '\(from)' to store '\(to)'",
            payload: run.payload)
        return (intent, false)
    }

    /// Whether a run from one store to another was interrupted, whatever its domains.
    package static func isInterrupted(from: String, to: String, folder: String) throws(StorageError) -> Bool {
        try IntentJournal(folder: folder).pending(kind: kind).contains {
            $0.state == .interrupted && Run.of($0.payload).map { ($0.from, $0.to) == (from, to) } ?? false
        }
    }

    /// The entry of a run from one of two stores to the other, in either direction.
    static func pending(between one: String, and other: String, folder: String) throws(StorageError) -> PendingIntent? {
        try IntentJournal(folder: folder).pending(kind: kind).first {
            Run.of($0.payload).map { [[one, other], [other, one]].contains([$0.from, $0.to]) } ?? false
        }
    }

    /// Forgets an interrupted run.
    ///
    /// - Throws: `notFound` if it is absent; `busy` if a process is copying.
    package static func giveUp(from: String, to: String, domains: [String], folder: String) throws(StorageError) {
        let journal = try IntentJournal(folder: folder)
        guard let intent = try interrupted(Run(from: from, to: to, domains: domains), journal) else {
            throw StorageError(
                .notFound, "no copy of store '\(from)' to store '\(to)' was interrupted", hint: "see: ld-host doctor")
        }
        try intent.finish()
    }

    private static func interrupted(_ run: Run, _ journal: IntentJournal) throws(StorageError) -> Intent? {
        for pending in try journal.pending(kind: kind) where Run.of(pending.payload)?.isSame(as: run) ?? false {
            guard pending.state == .interrupted else {
                throw StorageError(
                    .busy, "process \(pending.owner) is running: \(pending.subject)", hint: "wait until it is done")
            }
            return try journal.adopt(pending.id)
        }
        return nil
    }

    /// The command that resumes an interrupted run, or gives it up.
    package static func command(_ intent: PendingIntent, givingUp: Bool = false) -> String {
        guard let run = Run.of(intent.payload) else { return "ld-host store copy" }
        let domains = run.domains.map { " --domain \($0)" }.joined()
        let flag = givingUp ? " --give-up" : run.isMove ? " --move" : ""
        return "ld-host store copy \(run.from) \(run.to)\(domains)\(flag)"
    }

    /// What is copied. A run that moves continues one that copies, and the other way round.
    private struct Run {
        var isMove = false
        let from: String
        let to: String
        let domains: [String]

        var payload: Data { Data(([isMove ? "move" : "copy", from, to] + domains).joined(separator: "\0").utf8) }

        static func of(_ payload: Data) -> Run? {
            let names = payload.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            guard names.count >= 3 else { return nil }
            return Run(isMove: names[0] == "move", from: names[1], to: names[2], domains: Array(names.dropFirst(3)))
        }

        func isSame(as other: Run) -> Bool { (from, to) == (other.from, other.to) && domains == other.domains }
    }
}
