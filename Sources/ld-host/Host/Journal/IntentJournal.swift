internal import DurableFiles
package import FoundationEssentials
internal import Glibc
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
        do { directory = try DurableDirectory(root: folder) } catch { throw StorageError(file: error) }
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
        let hold: DurableDirectory.Hold
        do { hold = try directory.hold(file) } catch { throw StorageError(file: error) }
        switch consume hold {
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
        do {
            let size = try file.status().size
            guard size <= IntentRecord.largestSize else {
                throw StorageError(
                    .corrupt, "the intent in '\(path)' is damaged: it has \(size) bytes",
                    hint: "make sure that no work is half done, then remove the file")
            }
            try file.read { span in bytes = span.withUnsafeBytes { Data($0) } }
        } catch {
            throw StorageError(file: error)
        }
        return try IntentRecord(bytes, expected: id, path: path)
    }
}
