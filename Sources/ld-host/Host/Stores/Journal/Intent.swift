internal import CLinux
internal import DurableFiles
package import FoundationEssentials
internal import Glibc
internal import HostGround
package import LocalDataAPI
internal import Synchronization

/// Work in several steps, written down by its owner before the first step.
///
/// As long as this object lives, others see the intent in progress and nobody can take it over. If it is deallocated
/// without ``finish()``, after an error or because the process ends, the intent is interrupted: it stays in the journal
/// until someone adopts and finishes it.
package final class Intent: Sendable {
    private struct State: ~Copyable {
        var held: HeldFile?
        var payload: Data
        var isFinished = false
    }

    package let id: IntentID
    /// The kind of work, which determines who can resume it.
    package let kind: String
    /// What the work is about, for people.
    package let subject: String
    private let directory: DurableDirectory
    private let file: RelativePath
    private let state: Mutex<State>

    /// Writes an intent to the journal.
    init(beginning record: IntentRecord, in directory: DurableDirectory) throws(StorageError) {
        let file = IntentJournal.file(of: record.id)
        var held: HeldFile?
        do {
            try directory.replace(file, holding: &held, with: record)
        } catch {
            // Nothing was begun. A file that exists despite the error is removed; should that fail too, it is found as
            // an interrupted intent without any completed step.
            if held != nil { _ = try? directory.remove(file) }
            guard error.code == .durabilityUnknown else { throw error }
            throw StorageError(
                .fileError, "an intent of kind '\(record.kind)' cannot be made durable: \(error.message)",
                hint: error.hint)
        }
        id = record.id
        kind = record.kind
        subject = record.subject
        self.directory = directory
        self.file = file
        state = Mutex(State(held: held.take(), payload: record.payload))
    }

    /// Takes over an intent whose file the caller holds.
    init(adopting record: IntentRecord, held: consuming HeldFile, in directory: DurableDirectory) {
        id = record.id
        kind = record.kind
        subject = record.subject
        self.directory = directory
        file = IntentJournal.file(of: record.id)
        state = Mutex(State(held: held, payload: record.payload))
    }

    /// The data for resuming the work, as last written.
    package var payload: Data { state.withLock { $0.payload } }

    /// Replaces the payload. When this returns, the new one is on the disk; a process that dies before that leaves
    /// either the whole old one or the whole new one.
    ///
    /// - Throws: `noSpace`, `permissionDenied` or `fileError`, and the old payload stays; `durabilityUnknown` if the
    ///   new one is in place but may not survive a power loss; `valueTooLarge` from 64 MiB; `notFound` after
    ///   ``finish()``.
    package func update(payload: Data) throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in
            guard !state.isFinished else {
                throw StorageError(.notFound, "the intent \(id) ('\(subject)') is finished and cannot be updated")
            }
            let record = IntentRecord(id: id, kind: kind, subject: subject, owner: getpid(), payload: payload)
            do throws(StorageError) {
                try directory.replace(file, holding: &state.held, with: record)
            } catch {
                if error.code == .durabilityUnknown { state.payload = payload }
                throw error
            }
            state.payload = payload
        }
    }

    /// Removes the intent: its work is done or undone. When this returns, it stays removed. A second call does nothing.
    ///
    /// - Throws: `permissionDenied` or `fileError`, and the intent stays; `durabilityUnknown` if it is removed but may
    ///   reappear after a power loss. In both cases this owner keeps it, and can call `finish` again.
    package func finish() throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in
            guard !state.isFinished else { return }
            _ = try directory.remove(file)
            // Released only after the file is gone: nobody may take it over before.
            state.held = nil
            state.isFinished = true
        }
    }
}

extension DurableDirectory {
    /// Writes an intent's file and holds it.
    fileprivate func replace(
        _ file: RelativePath, holding held: inout HeldFile?, with record: IntentRecord
    ) throws(StorageError) {
        let bytes = try record.encoded()
        try storageErrors { try bytes.withUnsafeBytes { try replace(file, holding: &held, with: $0) } }
    }
}

/// Identifies an intent. Ids are unique across processes and ordered by their creation, as far as the machine's clock
/// only moves forward.
package struct IntentID: Hashable, Sendable {
    /// When the intent was begun, in nanoseconds since 1970 UTC.
    package let created: Int64
    /// Distinguishes intents of the same nanosecond.
    let random: UInt64

    init(created: Int64, random: UInt64) {
        self.created = created
        self.random = random
    }

    /// The id of an intent that begins now; later than all ids that this process has created.
    package static func next() -> IntentID {
        let now = Moment.now
        let created = latest.withLock { latest in
            latest = max(latest &+ 1, now)
            return latest
        }
        return IntentID(created: created, random: .random(in: .min ... .max))
    }

    private static let latest = Mutex<Int64>(0)
}

extension IntentID: LosslessStringConvertible {
    /// The id that a text encodes; `nil` for other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let created = Int64(parts[0], radix: 16), let random = UInt64(parts[1], radix: 16)
        else { return nil }
        self.init(created: created, random: random)
        guard created >= 0, description == text else { return nil }
    }

    /// Time and random number, each as 16 lower-case hexadecimal digits: `18c2f0a1b3d4e5f6-0123456789abcdef`. Texts
    /// sort like ids.
    package var description: String { "\(Self.digits(UInt64(bitPattern: created)))-\(Self.digits(random))" }

    private static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension IntentID: Comparable {
    package static func < (left: IntentID, right: IntentID) -> Bool {
        (left.created, left.random) < (right.created, right.random)
    }
}
