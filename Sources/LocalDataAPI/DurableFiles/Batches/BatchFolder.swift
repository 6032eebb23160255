import Glibc

/// Applies batches of changes to files below a root, and in folders elsewhere: all of a batch or nothing, also across
/// a crash.
///
/// A batch first writes down in `<root>/.batch` which files it will change, then writes the new contents beside their
/// places and makes them durable. Renaming what it wrote down to `journal` commits it. After that the contents are
/// renamed into place, and the journal is removed.
///
/// - **Crashes.** A batch whose owner died before the commit is cleared away. One that was committed is completed: by
///   ``recover()``, and by the next change made through ``around(_:)``. What is then gone, as a folder on a medium that is no
///   longer there, is passed over.
/// - **Order.** No change that is made through ``around(_:)`` is overtaken by a batch that was committed before. That
///   holds among all who use the same root. Who changes a folder elsewhere with another root neither completes nor
///   waits for this one's batches.
/// - **Reading** takes no part: while a batch is put in place, a reader sees part of it.
/// - **File systems.** Any number of them, as contents are written into the places' own.
package final class BatchFolder: Sendable {
    /// The root's absolute path.
    let root: String
    let directory: DurableDirectory
    private let journalPath: CString

    static let journal = RelativePath("journal")
    private static let name = ".batch"

    /// The batches of a root. Touches nothing.
    package init(root: DurableDirectory) throws {
        self.root = root.path
        directory = try DurableDirectory(root: root.path, folders: [Self.name])
        journalPath = CString("\(directory.path)/\(Self.journal.text)".utf8)
    }

    /// Makes a change, after every batch that is committed, and returns when no batch can take it back. Costs two short
    /// system calls while there is no batch. May wait for one.
    ///
    /// - Throws: `DurableBatchError` for a batch that cannot be completed; what `change` throws.
    package func around<Result>(_ change: () throws -> Result) throws -> Result {
        if isPending { try complete(orElse: .blocked) }
        let result = try change()
        // One that was committed meanwhile, and whose owner died, would else be completed over the change by others.
        if isPending { try complete(orElse: .incomplete) }
        return result
    }

    /// Completes what was committed, and clears away what was not, of owners that are dead. Changes nothing if there is
    /// nothing to do. May wait for a batch under way.
    ///
    /// - Throws: `DurableBatchError`.
    package func recover() throws {
        if isPending { try complete(orElse: .blocked) }
        clearAbandoned()
    }

    /// Whether a batch is committed and not wholly in place.
    var isPending: Bool { access(journalPath.start, F_OK) == 0 }

    /// Waits for a batch that is committed, or completes it if its owner is dead.
    private func complete(orElse outcome: DurableBatchError.Outcome) throws {
        try failing(outcome) { try complete(BatchLock(in: directory)) }
    }

    /// Runs what completes batches, and says of a system call that failed what holds now.
    func failing<Result: ~Copyable>(
        _ outcome: DurableBatchError.Outcome, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let cause as SystemCallError {
            throw DurableBatchError(journal: journalPath.description, outcome: outcome, cause: cause)
        } catch let error as DurableChangeError {
            throw DurableBatchError(journal: journalPath.description, outcome: outcome, cause: error.cause)
        }
    }
}
