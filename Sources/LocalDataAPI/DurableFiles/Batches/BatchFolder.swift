import Glibc
public import LocalDataPluginAPI
import Synchronization

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
public final class BatchFolder: Sendable {
    /// The root's absolute path.
    let root: String
    let directory: DurableDirectory
    let journalPath: CString
    private let lockPath: CString
    /// How long a change waits for other processes' batches.
    private let patience: Duration
    /// Whether ``hold()`` was called.
    private let isHeld = Atomic(false)
    private let held = Mutex<HeldLock?>(nil)

    static let journal = RelativePath("journal")
    private static let name = ".batch"

    /// The batches of a root. Does not access the disk.
    ///
    /// - Parameter patience: How long a change waits for other processes' batches before it fails.
    public init(root: DurableDirectory, patience: Duration = .seconds(30)) throws(StorageError) {
        self.patience = patience
        self.root = root.path
        directory = try DurableDirectory(root: root.path, folders: [Self.name], isRootPrivate: true)
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
    /// - Throws: `StorageError` for a batch that cannot be completed or takes too long; what `change` throws.
    public func around<Result>(
        _ change: () throws -> Result, stands: () throws -> Bool = { true }
    ) throws -> Result {
        try requireFree()
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
    /// - Throws: `StorageError`, which states what readers find.
    public func recover() throws {
        if isPending { try complete(orElse: .blocked, patience: min(patience, .seconds(1))) }
        clearAbandoned()
    }

    /// Completes committed batches of dead owners, and waits for a running batch. One short system call if there is
    /// none.
    ///
    /// - Throws: `StorageError`, which states what readers find.
    public func settle() throws { if isPending { try complete(orElse: .blocked) } }

    /// Whether a batch is committed and not yet completely in place.
    var isPending: Bool { access(journalPath.start, F_OK) == 0 }

    /// Waits for a committed batch, or completes it if its owner is dead.
    private func complete(orElse outcome: StorageError.BatchOutcome, patience: Duration? = nil) throws {
        try failing(outcome) { try complete(lock(patience)) }
    }

    /// Waits until nobody else commits or completes a batch.
    func lock(_ patience: Duration? = nil) throws(StorageError) -> BatchLock {
        try requireFree()
        return try BatchLock(in: directory, patience: patience ?? self.patience)
    }

    /// Completes what is committed, and lets nobody commit a batch in this root as long as this object lives: all
    /// others wait, as long as they wait for a batch. Changes of single files go on. This object then refuses changes.
    ///
    /// - Throws: `StorageError` for a batch that cannot be completed or takes too long, or if this user may not write
    ///   here.
    public func hold() throws {
        let lock = try failing(.blocked) { try self.lock() }
        try failing(.blocked) { try complete(lock) }
        let kept = HeldLock(lock)
        held.withLock { $0 = kept }
        isHeld.store(true, ordering: .releasing)
    }

    private func requireFree() throws(StorageError) {
        guard isHeld.load(ordering: .acquiring) else { return }
        throw StorageError(
            .unsupported, "the store in '\(root)' is frozen: it shows its values, and changes none",
            hint: "use a store without the option 'frozen'")
    }

    /// Runs code that completes batches, and adds the outcome to the error of a failed system call.
    func failing<Result: ~Copyable>(
        _ outcome: StorageError.BatchOutcome, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as StorageError {
            throw error.failing(outcome, journal: journalPath.description)
        }
    }
}

extension BatchFolder {
    /// Applies changes in order, all or none. The last change of a file wins. When this returns, the changes are on the
    /// disk. May wait for another batch, or complete one.
    ///
    /// - Parameter expectations: The expected states of files. Changes that others make through ``around(_:stands:)``
    ///   or a batch take effect before the comparison or after the batch.
    /// - Returns: Whether all expectations held; if not, nothing has changed.
    /// - Throws: `StorageError`, which states the outcome. Nothing has changed if a name belongs to something other
    ///   than a regular file, or if a change's content throws; its errors pass through.
    @discardableResult
    public func apply(_ changes: [FileChange], onlyIf expectations: [FileExpectation] = []) throws -> Bool {
        if changes.isEmpty {
            return try around {
                try failing(.unchanged) { try expectations.allSatisfy { try $0.holds() } }
            } stands: {
                false
            }
        }
        let plan = try failing(.unchanged) { try BatchPlan(changes, id: newID) }
        if plan.changes.count < 2 {
            guard expectations.isEmpty else { return try apply(plan.changes.first, onlyIf: expectations) }
            for change in plan.changes {
                var identity: FileIdentity?
                try around {
                    identity = try change.apply()
                } stands: {
                    try change.stands(identity)
                }
            }
            return true
        }
        if isPending { try recover() } else { clearAbandoned() }
        return try commit(plan, onlyIf: expectations)
    }

    /// A single change needs no journal.
    private func apply(_ change: FileChange?, onlyIf expectations: [FileExpectation]) throws -> Bool {
        let lock = try failing(.unchanged) { try self.lock() }
        try failing(.blocked) { try complete(lock) }
        try failing(.unchanged) { try lock.announce() }
        defer { lock.conclude() }
        guard try failing(.unchanged, { try expectations.allSatisfy { try $0.holds() } }) else { return false }
        _ = try change?.apply()
        return true
    }

    private func commit(_ plan: BatchPlan, onlyIf expectations: [FileExpectation]) throws -> Bool {
        let name = RelativePath(plan.id)
        // Shows that this process lives. Until the commit, nobody else touches the staged files.
        var held: HeldFile?
        var isCommitted = false
        defer {
            if !isCommitted {
                for step in plan.steps { step.discard() }
                if let folder = try? directory.descriptorForReading() { unlinkat(folder, name.text.start, 0) }
            }
            _ = held.take()
        }
        let authority = try failing(.unchanged) {
            let authority = try BatchAuthority(
                nil, named: journalPath.description, in: directory.folderForWriting())
            try plan.check(authority, root: root)
            return authority
        }
        try failing(.unchanged) {
            try plan.journal(root: root).withUnsafeBytes { try directory.replace(name, holding: &held, with: $0) }
            try plan.stage()
        }
        let lock = try failing(.unchanged) { try self.lock() }
        try failing(.blocked) { try complete(lock) }
        try failing(.unchanged) { try lock.announce() }
        var isOver = true
        defer { if isOver { lock.conclude() } }
        guard try failing(.unchanged, { try expectations.allSatisfy { try $0.holds() } }) else { return false }
        try failing(.unchanged) { try rename(name) }
        (isCommitted, isOver) = (true, false)
        let synchronization = Result { try directory.synchronizeSelf(directory.folderForWriting().descriptor) }
        let steps = BatchSteps(plan.steps, authority)
        try failing(.incomplete) { try steps.takeDurably() }
        try failing(.durabilityUnknown) {
            try synchronization.get()
            try removeJournal(isDurable: plan.removes)
        }
        steps.removeLargeTemporaryFolders()
        isOver = true
        return true
    }

    /// Commits a batch by renaming its file.
    private func rename(_ name: RelativePath) throws(StorageError) {
        let folder = try directory.folderForWriting().descriptor
        guard renameat(folder, name.text.start, folder, Self.journal.text.start) != 0 else { return }
        let code = errno
        // A failing disk or server may have renamed it although it reported an error.
        if code == EIO, try !directory.isRegular(name.text, in: folder) { return }
        throw directory.failure(code, "rename", name.text)
    }

    /// - Parameter isDurable: Whether the journal must not come back after a power loss. If it comes back, the staged
    ///   files are gone, so nothing is replaced; but files would be removed again.
    private func removeJournal(isDurable: Bool) throws(StorageError) {
        guard isDurable else {
            let folder = try directory.folderForWriting().descriptor
            guard unlinkat(folder, Self.journal.text.start, 0) != 0 else { return }
            throw directory.failure(errno, "remove", Self.journal.text)
        }
        _ = try directory.remove(Self.journal)
    }
}

/// Changes of single files, ordered with batches.
extension BatchFolder {
    /// Replaces or creates a file in `place` as ``DurableDirectory/replace(_:attribute:with:published:)`` does, in the
    /// order of ``around(_:stands:)``.
    public func replace(
        _ path: RelativePath, in place: DurableDirectory, attribute: FileAttribute?, with bytes: UnsafeRawBufferPointer
    ) throws {
        var identity: FileIdentity?
        try around {
            try place.replace(path, attribute: attribute, with: bytes) { identity = $0 }
        } stands: {
            try place.identity(of: path) == identity
        }
    }

    /// Replaces or creates a file whose content arrives in pieces.
    public func replace(
        _ path: RelativePath, in place: DurableDirectory, attribute: FileAttribute?,
        from source: (_ take: (RawSpan) throws -> Void) throws -> Void
    ) throws {
        var written: WrittenContent?
        var identity: FileIdentity?
        try around {
            if let written {
                // The source is exhausted; the file with its content is still open.
                try place.replace(path, attribute: attribute, from: { try written.forEachPiece($0) })
            } else {
                try place.replace(
                    path, attribute: attribute, from: source,
                    written: { written = WrittenContent(try $0.duplicate()) }, published: { identity = $0 })
            }
        } stands: {
            try place.identity(of: path) == identity
        }
    }

    /// Removes a file in `place`; `false` if there was none.
    public func remove(_ path: RelativePath, in place: DurableDirectory) throws -> Bool {
        var isRemoved = false
        try around {
            if try place.remove(path) { isRemoved = true }
        } stands: {
            try place.identity(of: path) == nil
        }
        return isRemoved
    }
}

/// A written file, kept open even if its name is replaced.
private final class WrittenContent {
    private let file: OpenFile

    init(_ file: consuming OpenFile) { self.file = file }

    func forEachPiece(_ body: (RawSpan) throws -> Void) throws {
        var failure: (any Error)?
        try file.readPieces { piece in
            do {
                try body(piece)
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }
}

/// A lock that is held for as long as this object lives.
private final class HeldLock: Sendable {
    private let lock: BatchLock

    init(_ lock: consuming BatchLock) { self.lock = lock }
}
