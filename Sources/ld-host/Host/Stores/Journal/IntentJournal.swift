internal import DurableFiles
package import FoundationEssentials
internal import Glibc
internal import HostGround
package import LocalDataAPI

/// The host's journal: work in several steps is written here first, so that after a crash another process can resume or
/// undo it.
///
/// One file per intent, in one folder; ``IntentRecord`` describes its format. An intent exists from the return of
/// `begin` to the return of `finish`, whole at every instant. Its owner locks its file, and the lock ends with the
/// process. Any number of processes and threads may use one folder at once. A journal contains no values: a payload may
/// say where something is, not what it is.
package struct IntentJournal: Sendable {
    let directory: DurableDirectory

    /// The journal in a folder, which is created with the first intent. Does not access the disk.
    ///
    /// - Throws: `fileError` if the path is not absolute.
    package init(folder: String) throws(StorageError) {
        directory = try DurableDirectory(root: folder, isRootPrivate: true, rule: .secret)
    }

    /// The folder.
    package var folder: String { directory.path }

    /// Writes an intent to the journal. It is on the disk when this returns.
    ///
    /// - Parameters:
    ///   - kind: Determines who can resume the work: a short word, e.g. `reseal`; at most 255 bytes.
    ///   - subject: What the work is about, one line for people; at most 64 KiB.
    ///   - payload: The data for resuming the work; at most 64 MiB. No plain values.
    /// - Returns: The intent, owned by the caller as long as the object lives.
    /// - Throws: `noSpace`, `permissionDenied`, `fileError` or `valueTooLarge`; nothing is begun.
    package func begin(kind: String, subject: String, payload: Data = Data()) throws(StorageError) -> Intent {
        let record = IntentRecord(id: .next(), kind: kind, subject: subject, owner: getpid(), payload: payload)
        return try Intent(beginning: record, in: directory)
    }

    /// Takes over an interrupted intent. If several processes try, one succeeds.
    ///
    /// - Throws: `notFound` if it is finished, `busy` if its owner lives, `corrupt` if it is damaged, `unsupported` if
    ///   a newer program wrote it; `permissionDenied` or `fileError`.
    package func adopt(_ id: IntentID) throws(StorageError) -> Intent {
        let file = Self.file(of: id)
        switch try directory.hold(file) {
        case .held(let held):
            let record = try record(of: id, in: held.file)
            return Intent(adopting: record, held: held, in: directory)
        case .elsewhere:
            throw StorageError(
                .busy, "the intent \(id) in '\(folder)' is in use by another process",
                hint: "wait until that is done")
        case .missing:
            throw StorageError(.notFound, "there is no intent \(id) in '\(folder)'; its work is done")
        }
    }

    /// The file of an intent.
    static func file(of id: IntentID) -> RelativePath { RelativePath("\(id)\(suffix)") }

    /// The extension of intents' file names.
    static let suffix = ".intent"

    /// Reads an intent from its file.
    func record(of id: IntentID, in file: borrowing OpenFile) throws(StorageError) -> IntentRecord {
        let path = "\(folder)/\(id)\(Self.suffix)"
        var bytes = Data()
        let size = try file.status().size
        guard size <= IntentRecord.largestSize else {
            throw StorageError(
                .corrupt, "the intent in '\(path)' is damaged: it has \(size) bytes",
                hint: "see what is interrupted: ld-host doctor; then remove the file")
        }
        try storageErrors { _ = try file.read { span in bytes = span.withUnsafeBytes { Data($0) } } }
        return try IntentRecord(bytes, expected: id, path: path)
    }
}

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
        do throws(StorageError) {
            try storageErrors { try handler(intent) }
            try intent.finish()
            report.recovered.append(pending)
        } catch {
            report.failures.append(JournalReport.Failure(intent: pending, error: error))
        }
    }
}

extension IntentJournal {
    /// The unfinished intents of a kind, or of all kinds, in the order of their creation.
    ///
    /// - Throws: `permissionDenied` or `fileError` if the folder cannot be read.
    package func pending(kind: String? = nil) throws(StorageError) -> [PendingIntent] {
        try survey().pending.filter { kind == nil || $0.kind == kind }
    }

    /// The journal's contents. Only queries and takes no lock, so it blocks nobody; costs one failed open(2) if there
    /// is no folder.
    ///
    /// - Throws: `permissionDenied` or `fileError` if the folder cannot be read.
    package func survey() throws(StorageError) -> JournalSurvey {
        var names: [String] = []
        try storageErrors {
            try directory.forEachEntry { name, _ in
                if name.reversed().starts(with: Self.suffix.utf8.reversed()) {
                    names.append(String(decoding: name, as: UTF8.self))
                }
                return true
            }
        }
        var survey = JournalSurvey()
        for name in names.sorted() {
            do throws(StorageError) {
                guard let intent = try pendingIntent(name) else { continue }
                survey.pending.append(intent)
            } catch {
                survey.unreadable.append(UnreadableIntent(path: "\(folder)/\(name)", error: error))
            }
        }
        return survey
    }

    /// The intent in a file; `nil` if the file is gone.
    private func pendingIntent(_ name: String) throws(StorageError) -> PendingIntent? {
        guard let id = IntentID(String(name.dropLast(Self.suffix.count))) else {
            throw StorageError(
                .corrupt, "'\(folder)/\(PathText.shown(name))' is not named like an intent",
                hint: "move it away; it is not the journal's")
        }
        while let file = try directory.open(Self.file(of: id)) {
            guard let isHeld = try directory.isHeld(file, as: Self.file(of: id)) else { continue }
            return PendingIntent(try record(of: id, in: file), isHeld ? .inProgress : .interrupted)
        }
        return nil
    }
}

/// How to handle interrupted intents, by kind.
package struct JournalRecovery: Sendable {
    /// Completes or undoes the work of an intent. The work may be partly done, not begun or complete; when the handler
    /// returns, the intent is finished. An error other than a `StorageError` is reported as `unknown`.
    package typealias Handler = @Sendable (_ intent: Intent) throws -> Void

    /// When and how work of a kind is resumed.
    package enum Handling: Sendable {
        /// Immediately, on the thread that recovers.
        case atOpen(Handler)
        /// When a person or the app asks for it; everything stays usable meanwhile.
        case onDemand
    }

    let handlings: [String: Handling]

    /// Registers the kinds that this program knows.
    package init(_ handlings: [String: Handling]) { self.handlings = handlings }
}

/// What recovery found in a journal, and the results.
package struct JournalReport: Sendable {
    /// An intent whose work could not be resumed. It stays.
    package struct Failure: Sendable {
        package let intent: PendingIntent
        package let error: StorageError
    }

    /// The intents that were completed or undone.
    package internal(set) var recovered: [PendingIntent] = []
    /// The intents whose handlers failed.
    package internal(set) var failures: [Failure] = []
    /// The interrupted intents that wait until someone asks for them.
    package internal(set) var waiting: [PendingIntent] = []
    /// The interrupted intents of unknown kinds.
    package internal(set) var unknown: [PendingIntent] = []
    /// The intents that other processes are working on.
    package internal(set) var inProgress: [PendingIntent] = []
    /// The files that could not be read.
    package internal(set) var unreadable: [UnreadableIntent] = []

    /// Whether the journal was empty.
    package var isEmpty: Bool {
        recovered.isEmpty && failures.isEmpty && waiting.isEmpty && unknown.isEmpty && inProgress.isEmpty
            && unreadable.isEmpty
    }
}

/// The contents of a journal at one moment.
package struct JournalSurvey: Sendable {
    /// The unfinished intents, in the order of their creation.
    package internal(set) var pending: [PendingIntent] = []
    /// The unreadable files, ordered by path.
    package internal(set) var unreadable: [UnreadableIntent] = []
}

/// An unfinished intent, as others than its owner see it.
package struct PendingIntent: Sendable {
    /// The state of the work.
    package enum State: String, Sendable {
        /// Its owner lives.
        case inProgress = "in progress"
        /// Its owner gave up or died; another process can take it over.
        case interrupted
    }

    package let id: IntentID
    package let kind: String
    /// What the work is about, for people.
    package let subject: String
    /// The data for resuming the work.
    package let payload: Data
    /// The id of the process that last wrote it, for people: the process may be dead, or in another container.
    package let owner: Int32
    package let state: State

    /// When it was begun, in nanoseconds since 1970 UTC.
    package var created: Int64 { id.created }

    init(_ record: IntentRecord, _ state: State) {
        id = record.id
        kind = record.kind
        subject = record.subject
        payload = record.payload
        owner = record.owner
        self.state = state
    }
}

/// A file of the journal that cannot be read as an intent. It stays where it is.
package struct UnreadableIntent: Sendable {
    /// The file.
    package let path: String
    /// Why: `corrupt` if it is damaged, `unsupported` if a newer program wrote it, `fileError` or `permissionDenied` if
    /// the system does not let this process read it.
    package let error: StorageError
}
