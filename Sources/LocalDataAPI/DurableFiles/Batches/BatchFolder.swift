import Glibc

/// Applies batches of changes to files below a root, and in folders elsewhere: all of a batch or nothing, also across
/// a crash.
///
/// A batch first writes down in `<root>/.batch` which files it will change, then writes the new contents beside their
/// places and makes them durable. Renaming what it wrote down to `journal` commits it. After that the contents are
/// renamed into place, and the journal is removed.
///
/// - **Crashes.** A batch whose owner died before the commit is cleared away. One that was committed is completed: by
///   ``recover()``, and by the next change made through ``around(_:)``. What is then gone, as a folder on a medium that
///   is no longer there, is passed over.
/// - **Order.** No change that is made through ``around(_:)`` is overtaken by a batch that was committed before. That
///   holds among all who use the same root. Who changes a folder elsewhere with another root neither completes nor
///   waits for this one's batches.
/// - **Reading** takes no part: while a batch is put in place, a reader sees part of it.
/// - **Other users.** A journal that others could have written is completed only as far as ``BatchAuthority`` says. One
///   that says more, or is damaged, stays, and keeps changes from being made until it is dealt with; reading goes on.
/// - **File systems.** Any number of them, as contents are written into the places' own.
package final class BatchFolder: Sendable {
    /// The root's absolute path.
    let root: String
    let directory: DurableDirectory
    let journalPath: CString
    private let lockPath: CString
    /// How long a change waits for the batches of others.
    private let patience: Duration

    static let journal = RelativePath("journal")
    private static let name = ".batch"

    /// The batches of a root. Touches nothing.
    ///
    /// - Parameter patience: How long a change waits for the batches of other processes before it fails.
    package init(root: DurableDirectory, patience: Duration = .seconds(30)) throws {
        self.patience = patience
        self.root = root.path
        directory = try DurableDirectory(root: root.path, folders: [Self.name])
        journalPath = CString("\(directory.path)/\(Self.journal.text)".utf8)
        lockPath = CString("\(directory.path)/\(BatchLock.name)".utf8)
    }

    /// Makes a change, after every batch that is committed, and returns when no batch can take it back. Costs three
    /// short system calls while there is no batch. May wait for one.
    ///
    /// A batch that began meanwhile may have put a file in place over the change. Then the change is made again, while
    /// no batch can come between: nobody has been promised anything of the first one.
    ///
    /// - Parameters:
    ///   - change: Called twice at most.
    ///   - stands: Whether what the change did is still so; asked if a batch came between.
    /// - Throws: `DurableBatchError` for a batch that cannot be completed, or that takes too long; what `change`
    ///   throws.
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
        // One that was committed meanwhile, and whose owner died, would else be completed over the change by others.
        let lock = try failing(.incomplete) { try self.lock() }
        try failing(.incomplete) { try complete(lock) }
        let isOvertaken = try failing(.incomplete) { try !stands() }
        let last = try isOvertaken ? change() : result
        _ = consume lock
        return last
    }

    /// Completes what was committed, and clears away what was not, of owners that are dead. Changes nothing if there is
    /// nothing to do. Waits a moment for a batch under way.
    ///
    /// - Throws: `DurableBatchError`.
    package func recover() throws {
        if isPending { try complete(orElse: .blocked, patience: min(patience, .seconds(1))) }
        clearAbandoned()
    }

    /// Completes what was committed by owners that are dead, and waits for a batch under way. One short system call if
    /// there is none.
    ///
    /// - Throws: `DurableBatchError`.
    package func settle() throws { if isPending { try complete(orElse: .blocked) } }

    /// Whether a batch is committed and not wholly in place.
    var isPending: Bool { access(journalPath.start, F_OK) == 0 }

    /// Waits for a batch that is committed, or completes it if its owner is dead.
    private func complete(orElse outcome: DurableBatchError.Outcome, patience: Duration? = nil) throws {
        try failing(outcome) { try complete(lock(patience)) }
    }

    /// Waits until nobody else commits or completes a batch.
    func lock(_ patience: Duration? = nil) throws -> BatchLock {
        try BatchLock(in: directory, patience: patience ?? self.patience)
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
        } catch let error as FileKindError where error.path.utf8.elementsEqual(journalPath.description.utf8) {
            let cause = SystemCallError(EBADMSG, "read", path: error.path, detail: "it is \(error.found.rawValue)")
            throw DurableBatchError(journal: error.path, outcome: outcome, cause: cause)
        }
    }
}
