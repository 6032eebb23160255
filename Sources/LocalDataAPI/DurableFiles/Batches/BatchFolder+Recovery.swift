import Glibc

extension BatchFolder {
    /// Completes the batch that is committed, if there is one: since the caller has the lock, its owner is dead.
    func complete(_ lock: borrowing BatchLock) throws {
        guard let file = try directory.open(Self.journal) else { return }
        // One that is not complete was damaged after it was written, and says nothing.
        if let steps = try steps(of: file) { try BatchSteps(steps).takeDurably() }
        _ = try directory.remove(Self.journal)
    }

    /// Clears away batches that were not committed and whose owners are dead, as far as this process may.
    func clearAbandoned() {
        try? directory.forEachEntry { name, kind in
            guard kind == .regular, name.count == BatchJournal.idLength else { return true }
            let path = RelativePath(pieces: CollectionOfOne(name))
            // Held under its name: its owner is dead, and has not committed it.
            guard case .held(let held) = try directory.hold(path) else { return true }
            for step in try steps(of: held.file) ?? [] { step.discard() }
            if let folder = try directory.descriptorForReading() { unlinkat(folder, path.text.start, 0) }
            return true
        }
    }

    /// A batch's name: that of its file before it is committed.
    static func newID() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: BatchJournal.idLength - digits.count) + digits
    }

    /// What a journal says; `nil` if it is not complete.
    ///
    /// - Throws: `SystemCallError`, with `ENOTSUP` for one of a later version, and with `EPERM` for one of another user
    ///   that names places elsewhere: whoever may write to a shared root must not change others' files through it.
    private func steps(of file: borrowing OpenFile) throws -> [BatchStep]? {
        var bytes: [UInt8] = []
        try file.read { span in bytes = span.withUnsafeBytes { Array($0) } }
        if BatchJournal.isLater(bytes) { throw file.failure(ENOTSUP, "complete the batch in") }
        guard let journal = BatchJournal(bytes) else { return nil }
        if journal.places.contains(where: { !$0.isBelowRoot }), try !file.isOwn() {
            throw file.failure(EPERM, "complete the batch of another user in")
        }
        return try steps(of: journal)
    }

    private func steps(of journal: BatchJournal) throws -> [BatchStep]? {
        var places: [DurableDirectory] = []
        for place in journal.places {
            guard let directory = try directory(of: place) else { return nil }
            places.append(directory)
        }
        var steps: [BatchStep] = []
        for (index, change) in journal.changes.enumerated() {
            guard let pieces = Self.pieces(change.path), !pieces.isEmpty else { return nil }
            steps.append(
                BatchStep(
                    place: places[change.place], path: RelativePath(pieces: pieces),
                    staged: change.hasContent ? BatchStep.stagedName(batch: journal.id, index: index) : nil))
        }
        return steps
    }

    private func directory(of place: BatchJournal.Place) throws -> DurableDirectory? {
        if place.isBelowRoot {
            guard let pieces = Self.pieces(place.path) else { return nil }
            return try DurableDirectory(root: root, folders: pieces.map { String(decoding: $0, as: UTF8.self) })
        }
        guard place.path.first == UInt8(ascii: "/"), !place.path.contains(0) else { return nil }
        return try DurableDirectory(root: String(decoding: place.path, as: UTF8.self))
    }

    /// The names in a path that leads nowhere but down; `nil` for another.
    private static func pieces(_ path: [UInt8]) -> [ArraySlice<UInt8>]? {
        if path.isEmpty { return [] }
        let pieces = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isPlain = pieces.allSatisfy {
            !$0.isEmpty && !$0.contains(0) && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8)
        }
        return isPlain ? pieces : nil
    }
}

extension OpenFile {
    /// Whether the file belongs to this process's user.
    fileprivate func isOwn() throws -> Bool {
        var status = stat()
        guard fstat(descriptor.number, &status) == 0 else { throw failure(errno, "inspect") }
        return status.st_uid == geteuid()
    }
}
