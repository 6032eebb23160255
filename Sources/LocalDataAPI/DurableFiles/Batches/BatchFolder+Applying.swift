import Glibc

extension BatchFolder {
    /// Applies changes in order, all or none. The last change of a file wins. When this returns, the changes are on the
    /// disk. May wait for another batch, or complete one.
    ///
    /// - Parameter expectations: The expected states of files. Changes that others make through ``around(_:stands:)``
    ///   or a batch take effect before the comparison or after the batch.
    /// - Returns: Whether all expectations held; if not, nothing has changed.
    /// - Throws: `DurableBatchError`, or `DurableChangeError` if the batch is a single change: both state the outcome.
    ///   `FileKindError` if a name belongs to something other than a regular file; then nothing has changed. Errors of
    ///   a change's content pass through; then nothing has changed either.
    @discardableResult
    package func apply(_ changes: [BatchChange], onlyIf expectations: [FileExpectation] = []) throws -> Bool {
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
    private func apply(_ change: BatchChange?, onlyIf expectations: [FileExpectation]) throws -> Bool {
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
    private func rename(_ name: RelativePath) throws {
        let folder = try directory.folderForWriting().descriptor
        guard renameat(folder, name.text.start, folder, Self.journal.text.start) != 0 else { return }
        let code = errno
        // A failing disk or server may have renamed it although it reported an error.
        if code == EIO, try !directory.isRegular(name.text, in: folder) { return }
        throw directory.failure(code, "rename", name.text)
    }

    /// - Parameter isDurable: Whether the journal must not come back after a power loss. If it comes back, the staged
    ///   files are gone, so nothing is replaced; but files would be removed again.
    private func removeJournal(isDurable: Bool) throws {
        guard isDurable else {
            let folder = try directory.folderForWriting().descriptor
            guard unlinkat(folder, Self.journal.text.start, 0) != 0 else { return }
            throw directory.failure(errno, "remove", Self.journal.text)
        }
        _ = try directory.remove(Self.journal)
    }
}
