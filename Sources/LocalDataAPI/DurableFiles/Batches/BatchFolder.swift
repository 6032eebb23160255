import Glibc

/// Applies batches of changes to files below a root and in folders elsewhere, all or none, even across a crash.
///
/// A batch first lists the files that it will change in `<root>/.batch`. Then it writes the new contents beside their
/// final locations and makes them durable. Renaming the list to `journal` commits the batch. After that it renames the
/// contents into place and removes the journal.
///
/// - **Crashes.** A batch whose owner died before the commit is discarded. A committed batch is completed: by
///   ``recover()``, and by the next change made through ``around(_:)``. It skips locations that no longer exist, e.g. a
///   folder on a removed medium.
/// - **Order.** A change made through ``around(_:)`` takes effect after every batch that was committed before it. This
///   holds among all users of one root. A process that changes a folder through another root neither completes this
///   root's batches nor waits for them.
/// - **Reading** does not participate: while a batch is put in place, a reader sees part of it.
/// - **Other users.** A journal that others could have written is completed only as far as ``BatchAuthority`` allows. A
///   journal that goes beyond it, or is damaged, stays and blocks changes until someone resolves it; reading continues.
/// - **File systems.** A batch may span any number of them, since contents are written to the file systems of their
///   locations.
package final class BatchFolder: Sendable {
    /// The root's absolute path.
    let root: String
    let directory: DurableDirectory
    let journalPath: CString
    private let lockPath: CString
    /// How long a change waits for other processes' batches.
    private let patience: Duration

    static let journal = RelativePath("journal")
    private static let name = ".batch"

    /// The batches of a root. Does not access the disk.
    ///
    /// - Parameter patience: How long a change waits for other processes' batches before it fails.
    package init(root: DurableDirectory, patience: Duration = .seconds(30)) throws {
        self.patience = patience
        self.root = root.path
        directory = try DurableDirectory(root: root.path, folders: [Self.name])
        journalPath = CString("\(directory.path)/\(Self.journal.text)".utf8)
        lockPath = CString("\(directory.path)/\(BatchLock.name)".utf8)
    }

    /// Makes a change after every committed batch, and returns when no batch can undo it. Costs three short system
    /// calls while there is no batch. May wait for a batch.
    ///
    /// A batch that began meanwhile may have replaced the changed file. Then the change is made again while no batch
    /// can intervene; nobody has been promised the first one.
    ///
    /// - Parameters:
    ///   - change: Called at most twice.
    ///   - stands: Whether the result of the change still holds; called if a batch intervened.
    /// - Throws: `DurableBatchError` for a batch that cannot be completed or takes too long; what `change` throws.
    package func around<Result>(
        _ change: () throws -> Result, stands: () throws -> Bool = { true }
    ) throws -> Result {
        var turn = BatchTurn(lockPath)
        if isPending || turn.isUnderWay {
            try complete(orElse: .blocked)
            turn = BatchTurn(lockPath)
        }
        let result = try change()
        if !turn.isUnderWay, BatchTurn(lockPath) == turn { return result }
        // Otherwise others would complete, over this change, a batch that was committed meanwhile and whose owner died.
        let lock = try failing(.incomplete) { try self.lock() }
        try failing(.incomplete) { try complete(lock) }
        let isOvertaken = try failing(.incomplete) { try !stands() }
        let last = try isOvertaken ? change() : result
        _ = consume lock
        return last
    }

    /// Completes committed batches and discards uncommitted ones of dead owners. Changes nothing if there are none.
    /// Waits briefly for a running batch.
    ///
    /// - Throws: `DurableBatchError`.
    package func recover() throws {
        if isPending { try complete(orElse: .blocked, patience: min(patience, .seconds(1))) }
        clearAbandoned()
    }

    /// Completes committed batches of dead owners, and waits for a running batch. One short system call if there is
    /// none.
    ///
    /// - Throws: `DurableBatchError`.
    package func settle() throws { if isPending { try complete(orElse: .blocked) } }

    /// Whether a batch is committed and not yet completely in place.
    var isPending: Bool { access(journalPath.start, F_OK) == 0 }

    /// Waits for a committed batch, or completes it if its owner is dead.
    private func complete(orElse outcome: DurableBatchError.Outcome, patience: Duration? = nil) throws {
        try failing(outcome) { try complete(lock(patience)) }
    }

    /// Waits until nobody else commits or completes a batch.
    func lock(_ patience: Duration? = nil) throws -> BatchLock {
        try BatchLock(in: directory, patience: patience ?? self.patience)
    }

    /// Runs code that completes batches, and adds the outcome to the error of a failed system call.
    func failing<Result: ~Copyable>(
        _ outcome: DurableBatchError.Outcome, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let cause as SystemCallError {
            throw DurableBatchError(journal: journalPath.description, outcome: outcome, cause: cause)
        } catch let error as DurableChangeError {
            throw DurableBatchError(journal: journalPath.description, outcome: outcome, cause: error.cause)
        } catch let error as FileKindError where error.path.utf8.elementsEqual(journalPath.description.utf8) {
            let cause = SystemCallError(EBADMSG, "read", path: error.path, detail: "it is \(error.found.rawValue)")
            throw DurableBatchError(journal: error.path, outcome: outcome, cause: cause)
        }
    }
}
