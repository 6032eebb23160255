internal import DurableFiles
package import FoundationEssentials
internal import Glibc
package import LocalDataAPI
internal import Synchronization

/// Something that is being done in several steps, written down before the first one, by its owner.
///
/// As long as this object lives, others see the intent in progress and nobody can take it over. When it goes away
/// without ``finish()``, by an error or the end of the process, the intent is interrupted: it stays in the journal
/// until someone adopts and finishes it.
package final class Intent: Sendable {
    private struct State: ~Copyable {
        var held: HeldFile?
        var payload: Data
        var isFinished = false
    }

    package let id: IntentID
    /// What kind of work it is; says who can go on with it.
    package let kind: String
    /// What it is about, for people.
    package let subject: String
    private let directory: DurableDirectory
    private let file: RelativePath
    private let state: Mutex<State>

    /// Writes an intent down.
    init(beginning record: IntentRecord, in directory: DurableDirectory) throws(StorageError) {
        let file = IntentJournal.file(of: record.id)
        var held: HeldFile?
        do {
            try directory.replace(file, holding: &held, with: record)
        } catch {
            // Nothing was begun. What stands in spite of the error is removed; should that fail too, it is found as an
            // interrupted intent of which nothing was done.
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

    /// What the work needs to be gone on with, as it was last written.
    package var payload: Data { state.withLock { $0.payload } }

    /// Replaces the payload. When this returns, the new one is on the disk; a process that dies before that leaves the
    /// old one or the new, whole.
    ///
    /// - Throws: `noSpace`, `permissionDenied` or `fileError`, and the old payload stands; `durabilityUnknown` if the
    ///   new one stands and may not survive a power loss; `valueTooLarge` from 64 MiB; `notFound` after ``finish()``.
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

    /// Removes the intent: its work is done, or undone. When this returns, it stays away. A second time does nothing.
    ///
    /// - Throws: `permissionDenied` or `fileError`, and the intent stands; `durabilityUnknown` if it is gone and may
    ///   be back after a power loss. Both times the intent is still this owner's, and `finish` can be repeated.
    package func finish() throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in
            guard !state.isFinished else { return }
            do { _ = try directory.remove(file) } catch { throw StorageError(file: error) }
            // Only when the file is gone: nobody may take it over before.
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
        do {
            try bytes.withUnsafeBytes { try replace(file, holding: &held, with: $0) }
        } catch {
            throw StorageError(file: error)
        }
    }
}
