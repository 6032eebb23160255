import Glibc

extension BatchFolder {
    /// Applies changes in order, all or none; a later change of a file wins. When this returns, they are on the disk. May
    /// wait for another batch, or complete one.
    ///
    /// - Throws: `DurableBatchError` or, if the batch is a single change, `DurableChangeError`: both say what holds now.
    ///   `FileKindError` if something else than a regular file has a name; then nothing has changed. What a change's
    ///   content throws, likewise.
    package func apply(_ changes: [BatchChange]) throws {
        let plan = try failing(.unchanged) { try BatchPlan(changes, id: Self.newID()) }
        if plan.changes.count < 2 {
            for change in plan.changes { try around { try apply(change) } }
            return
        }
        if isPending { try recover() } else { clearAbandoned() }
        try commit(plan)
    }

    private func apply(_ change: BatchChange) throws {
        guard let content = change.content else {
            _ = try change.place.remove(change.path)
            return
        }
        try content { try change.place.replace(change.path, attribute: change.attribute, with: $0) }
    }

    private func commit(_ plan: BatchPlan) throws {
        let name = RelativePath(plan.id)
        // Says that this process lives; until the commit, nobody else touches what is staged.
        var held: HeldFile?
        var isCommitted = false
        defer {
            if !isCommitted {
                for step in plan.steps { step.discard() }
                if let folder = try? directory.descriptorForReading() { unlinkat(folder, name.text.start, 0) }
            }
            _ = held.take()
        }
        try failing(.unchanged) {
            try plan.journal(root: root).withUnsafeBytes { try directory.replace(name, holding: &held, with: $0) }
            try plan.stage()
        }
        let lock = try failing(.unchanged) { try BatchLock(in: directory) }
        try failing(.blocked) { try complete(lock) }
        try failing(.unchanged) { try rename(name) }
        isCommitted = true
        let synchronization = Result { try directory.synchronizeSelf(directory.folderForWriting().descriptor) }
        try failing(.incomplete) { try BatchSteps(plan.steps).takeDurably() }
        try failing(.durabilityUnknown) {
            try synchronization.get()
            try removeJournal(isDurable: plan.removes)
        }
        _ = consume lock
    }

    /// Commits a batch.
    private func rename(_ name: RelativePath) throws {
        let folder = try directory.folderForWriting().descriptor
        guard renameat(folder, name.text.start, folder, Self.journal.text.start) != 0 else { return }
        let code = errno
        // Renamed all the same, by a disk or server that failed in the middle of it?
        if code == EIO, try !directory.isRegular(name.text, in: folder) { return }
        throw directory.failure(code, "rename", name.text)
    }

    /// - Parameter isDurable: Whether it must not come back after a power loss. If it does, what is staged is gone, so
    ///   nothing is replaced; but files would be removed once more.
    private func removeJournal(isDurable: Bool) throws {
        guard isDurable else {
            let folder = try directory.folderForWriting().descriptor
            guard unlinkat(folder, Self.journal.text.start, 0) != 0 else { return }
            throw directory.failure(errno, "remove", Self.journal.text)
        }
        _ = try directory.remove(Self.journal)
    }
}
