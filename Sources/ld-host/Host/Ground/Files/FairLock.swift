internal import CLinux
internal import DurableFiles
internal import Glibc
package import LocalDataAPI
internal import Synchronization

/// A ``FileLock`` that many uses share all the time, and few hold exclusively. Its file stays open, so that sharing it
/// costs four short system calls and no path lookup.
///
/// The system is not fair: many short shared uses in a row can starve an exclusive one. So a process that waits for
/// exclusive access marks the file by its owner's execute bit. While it waits, it holds a second lock on the file
/// `PATH.turn`, where all later uses queue. The mark only serves fairness; the lock itself excludes, and the system
/// frees it when a process ends. A mark that a killed process left costs the next use its fast path, and that use
/// removes it.
///
/// A use nested in another use of the same lock fails with `busy` if someone waits in between. Stores are changed under
/// it, so every use is inside the ``SwitchGate``.
package final class FairLock: Sendable {
    /// The lock's file; see ``FileLock/path``.
    package let path: String
    private let lock: FileLock
    private let turn: FileLock
    private let kept = Mutex(Kept())

    /// The open file for shared uses. They hold it together: the first one locks it, the last one unlocks it.
    private struct Kept {
        var descriptor: CInt?
        var users = 0
        /// Whether the path leads to another file, so that no further use may join.
        var isReplaced = false
        /// When the path was last looked up, in nanoseconds.
        var lookup: UInt64 = 0
    }

    /// The lock of a path. Does not access the disk.
    ///
    /// - Parameter patience: How long a use waits for others before it fails with `busy`.
    package init(_ path: String, patience: Duration = .seconds(30)) {
        self.path = path
        lock = FileLock(path, patience: patience)
        turn = FileLock("\(path).turn", patience: patience)
    }

    deinit { kept.withLock { kept in _ = kept.descriptor.map { close($0) } } }

    /// Runs `body` with the file's number, while others may hold the lock shared and nobody exclusively. May wait.
    ///
    /// - Throws: What ``FileLock/shared(_:)``, ``LockedFile/number()`` and `body` throw.
    package func shared<Result>(_ body: (UInt64) throws(StorageError) -> Result) throws(StorageError) -> Result {
        try SwitchGate.ofUser.inside { () throws(StorageError) in try sharedInside(body) }
    }

    private func sharedInside<Result>(_ body: (UInt64) throws(StorageError) -> Result) throws(StorageError) -> Result {
        if let number = enter() {
            defer { leave() }
            return try body(number)
        }
        let file = try lockedInTurn()
        let number = try file.number()
        keepOpen()
        return try body(number)
    }

    /// Runs `body` while nobody else holds the lock. May wait.
    ///
    /// - Throws: What ``FileLock/exclusive(_:)`` and `body` throw.
    package func exclusive<Result>(
        _ body: (borrowing LockedFile) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        try SwitchGate.ofUser.inside { () throws(StorageError) in
            let mine = try turn.locked(exclusively: true)
            let file = try lockedAlone()
            _ = consume mine
            return try body(file)
        }
    }

    /// Runs `change` while nobody else holds the lock. Then, unless that returns `nil`, runs `body` while others may
    /// hold it shared; nobody holds it exclusively in between. May wait.
    ///
    /// - Throws: What ``FileLock/exclusive(_:)``, `change` and `body` throw.
    package func exclusive<Change, Result>(
        _ change: (borrowing LockedFile) throws(StorageError) -> Change?,
        thenShared body: (Change) throws(StorageError) -> Result
    ) throws(StorageError) -> Result? {
        try SwitchGate.ofUser.inside { () throws(StorageError) in
            let mine = try turn.locked(exclusively: true)
            let file = try lockedAlone()
            guard let changed = try change(file) else { return nil }
            // The system gives the lock up for a moment. Whoever wants it exclusively waits for the queue's lock.
            try file.share()
            _ = consume mine
            return try body(changed)
        }
    }

    private func lockedAlone() throws(StorageError) -> LockedFile {
        if let file = try lock.lockedAtOnce(exclusively: true) { return file }
        let marked = try lock.opened(forWriting: true)
        Self.mark(marked.raw, true)
        defer { Self.mark(marked.raw, false) }
        return try lock.locked(exclusively: true)
    }

    private func lockedInTurn() throws(StorageError) -> LockedFile {
        let mine: LockedFile?
        do throws(StorageError) { mine = try turn.locked(exclusively: true) } catch {
            // Where nothing can be written, nobody waits for exclusive access.
            guard error.code == .permissionDenied || error.code == .noSpace else { throw error }
            mine = nil
        }
        let file = try lock.locked(exclusively: false)
        // Nobody waits for exclusive access while this process holds the queue's lock.
        if mine != nil { file.clearMark() }
        return file
    }

    /// Sets or clears the mark of an open file. A failure does not matter: the mark excludes nobody.
    static func mark(_ descriptor: CInt, _ isWaitedFor: Bool) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return }
        let mode = isWaitedFor ? status.st_mode | S_IXUSR : status.st_mode & ~S_IXUSR
        if mode != status.st_mode { fchmod(descriptor, mode & 0o7777) }
    }
}

extension FairLock {
    /// Joins the shared lock on the open file and returns its number; `nil` if someone holds or wants it exclusively,
    /// or the path leads to another file.
    private func enter() -> UInt64? {
        kept.withLock { kept in
            guard let descriptor = kept.descriptor, !kept.isReplaced else { return nil }
            if kept.users == 0, flock(descriptor, LOCK_SH | LOCK_NB) != 0 { return nil }
            var status = stat()
            if fstat(descriptor, &status) != 0 || status.st_nlink == 0 || !isInPlace(status, &kept.lookup) {
                kept.isReplaced = true
            } else if status.st_mode & S_IXUSR == 0,
                let number = try? LockedFile.number(in: descriptor, path: path)
            {
                kept.users += 1
                return number
            }
            if kept.users == 0 { Self.giveUp(&kept) }
            return nil
        }
    }

    private func leave() {
        kept.withLock { kept in
            kept.users -= 1
            if kept.users == 0 { Self.giveUp(&kept) }
        }
    }

    private static func giveUp(_ kept: inout Kept) {
        guard let descriptor = kept.descriptor else { return }
        // Closing is not enough: a child process that is starting shares the open file.
        flock(descriptor, LOCK_UN)
        guard kept.isReplaced else { return }
        close(descriptor)
        kept = Kept()
    }

    /// Whether the path still leads to the file. A removed file is noticed at once by its link count; a renamed folder
    /// only after some time.
    private func isInPlace(_ file: stat, _ lookup: inout UInt64) -> Bool {
        let now = Self.now
        guard now &- lookup > Self.lookupInterval else { return true }
        lookup = now
        var there = stat()
        return lstat(path, &there) == 0 && there.st_ino == file.st_ino && there.st_dev == file.st_dev
    }

    /// Opens the file for later uses, unless it is open.
    private func keepOpen() {
        kept.withLock { kept in
            guard kept.descriptor == nil, let opened = try? lock.opened(forWriting: false) else { return }
            let descriptor = fcntl(opened.raw, F_DUPFD_CLOEXEC, 0)
            if descriptor >= 0 { kept.descriptor = descriptor }
        }
    }

    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// The interval between two lookups of the path, in nanoseconds.
    private static let lookupInterval: UInt64 = 100_000_000
}
