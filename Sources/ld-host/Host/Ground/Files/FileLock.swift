internal import DurableFiles
internal import FoundationEssentials
internal import Glibc
package import LocalDataAPI
internal import Synchronization

/// A lock that processes and threads share by the path of a file; see flock(2).
///
/// Each use opens the file again, so two uses in one process exclude each other as two processes do. A use nested in
/// another use of the same lock fails with `busy`. The system frees the lock when the process ends in any way. The lock
/// is advisory. It is meant to be held briefly, on threads that may wait.
package struct FileLock: Sendable {
    /// The lock's file: created at first use, with mode 0600, in folders of mode 0700. It is never removed; should
    /// someone else remove it, all later uses still share one lock.
    package let path: String

    /// How long a use waits for others.
    let patience: Duration

    /// Whether the lock is of a file that is this user's own, so that it may be made in another user's folder.
    private let isOfOwnFile: Bool

    /// The lock of a path; a relative one starts at the current folder. Does not access the disk.
    ///
    /// - Parameters:
    ///   - patience: How long a use waits for others before it fails with `busy`.
    ///   - isOfOwnFile: Whether the lock is of a file that is this user's own. The superuser makes no other lock in the
    ///     folder of a user, who could not take it.
    package init(_ path: String, patience: Duration = .seconds(30), isOfOwnFile: Bool = false) {
        self.path = path
        self.patience = patience
        self.isOfOwnFile = isOfOwnFile
    }

    /// Runs `body` while others may hold the lock shared, and nobody exclusively. May wait.
    ///
    /// An existing file need not be writable.
    ///
    /// - Throws: `permissionDenied`, `noSpace` or `fileError` with the path; `busy` with the holder; what `body`
    ///   throws.
    package func shared<Result>(
        _ body: (borrowing LockedFile) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let file = try locked(exclusively: false)
        return try body(file)
    }

    /// Runs `body` while nobody else holds the lock. May wait.
    ///
    /// - Throws: `permissionDenied`, `noSpace` or `fileError` with the path; `busy` with the holder; what `body`
    ///   throws.
    package func exclusive<Result>(
        _ body: (borrowing LockedFile) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let file = try locked(exclusively: true)
        return try body(file)
    }

    /// Holds the lock exclusively as long as the result lives. May wait.
    ///
    /// - Throws: `permissionDenied`, `noSpace` or `fileError` with the path; `busy` with the holder.
    package func hold() throws(StorageError) -> LockedFile { try locked(exclusively: true) }

    /// Holds the lock as long as the result lives. May wait.
    func locked(exclusively: Bool) throws(StorageError) -> LockedFile {
        while true {
            let descriptor = try opened(forWriting: exclusively)
            try wait(for: descriptor.raw, exclusively: exclusively)
            if let file = try inPlace(descriptor, exclusively) { return file }
        }
    }

    /// Holds the lock without waiting; `nil` if another use excludes it.
    func lockedAtOnce(exclusively: Bool) throws(StorageError) -> LockedFile? {
        while true {
            let descriptor = try opened(forWriting: exclusively)
            while flock(descriptor.raw, (exclusively ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 {
                let code = errno
                if code == EWOULDBLOCK { return nil }
                if code != EINTR { throw failure(code, "lock") }
            }
            if let file = try inPlace(descriptor, exclusively) { return file }
        }
    }

    /// The locked file, unless someone removed it before it was locked: then others lock a new file.
    private func inPlace(
        _ descriptor: consuming OwnedDescriptor, _ exclusively: Bool
    ) throws(StorageError) -> LockedFile? {
        var here = stat()
        guard fstat(descriptor.raw, &here) == 0 else { throw failure(errno, "inspect") }
        guard here.st_mode & S_IFMT == S_IFREG else {
            throw StorageError(
                .fileError, "'\(path)' is not a regular file, and cannot serve as a lock", hint: "move it away")
        }
        var there = stat()
        guard lstat(path, &there) == 0, there.st_ino == here.st_ino, there.st_dev == here.st_dev else { return nil }
        return LockedFile(descriptor, path: path, isExclusive: exclusively)
    }

    func opened(forWriting: Bool) throws(StorageError) -> OwnedDescriptor {
        var creation: Int32 = 0
        for attempt in 0... {
            let flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW
            if let descriptor = OwnedDescriptor(open(path, O_RDWR | creation | flags, 0o600)) { return descriptor }
            switch errno {
            case EINTR: continue
            case ENOENT where creation == 0:
                if !isOfOwnFile { try requireOwnFolder() }
                creation = O_CREAT
            case ENOENT where attempt < Self.attempts: try folder().make()
            case let code where !forWriting && (code == EACCES || code == EROFS):
                if let descriptor = OwnedDescriptor(open(path, O_RDONLY | flags)) { return descriptor }
                throw failure(code, "open")
            case let code: throw failure(code, "open")
            }
        }
        throw failure(ENOENT, "open")
    }

    private func requireOwnFolder() throws(StorageError) {
        do throws(StorageError) { try HostFile.requireOwnFolder(folder()) } catch {
            throw StorageError(error.code, "'\(path)' cannot be made: \(error.message)", hint: error.hint)
        }
    }

    private func folder() throws(StorageError) -> DurableDirectory {
        let file = try HostFile.absolute(path)
        let slash = file.lastIndex(of: "/") ?? file.startIndex
        // For the user alone, also below a folder that a group shares: configuration and keys are there, too.
        return try DurableDirectory(root: String(file[...slash]), isRootPrivate: true)
    }

    private func failure(_ code: Int32, _ call: String) -> StorageError {
        StorageError(system: code, call, path: path)
    }

    /// The maximum number of attempts to create the folder while someone else removes it.
    private static let attempts = 8
}

extension FileLock {
    private static let notice = Mutex<(after: Duration, report: @Sendable (String) -> Void)?>(nil)

    /// Sets how the program reports a long wait for a lock. By default it does not: an app decides what it prints.
    ///
    /// - Parameters:
    ///   - delay: How long a wait is not reported.
    ///   - report: Called with e.g. `waiting for process 4711 ('ld-host', user 1000), which holds the lock
    ///     '/home/a/.local/state/localdata/batch.lock'`, at most once per wait, on the waiting thread.
    package static func reportWaits(after delay: Duration, _ report: @escaping @Sendable (String) -> Void) {
        notice.withLock { $0 = (delay, report) }
    }

    /// Waits for the lock of an open file.
    ///
    /// - Throws: `busy` with the holder after `patience`, or earlier if the holder is stopped and so cannot release it.
    func wait(for descriptor: CInt, exclusively: Bool) throws(StorageError) {
        let start = ContinuousClock.now
        var (look, isReported) = (Self.lookEvery, false)
        var pause = LockPause(from: 50, to: 5000)
        while flock(descriptor, (exclusively ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            guard code == EWOULDBLOCK else { throw failure(code, "lock") }
            let waited = ContinuousClock.now - start
            if waited >= patience { throw busy(LockHolder(of: descriptor), isStopped: false) }
            if waited >= look {
                let holder = LockHolder(of: descriptor)
                if !isReported { isReported = report(holder, after: waited) }
                look = waited + Self.lookEvery
                if waited >= Self.patienceWithStopped, let holder, Self.isStopped(holder) {
                    throw busy(holder, isStopped: true)
                }
            }
            pause.take()
        }
    }

    /// - Returns: Whether the wait is long enough to be reported.
    private func report(_ holder: LockHolder?, after waited: Duration) -> Bool {
        guard let notice = Self.notice.withLock({ $0 }), waited >= notice.after else { return false }
        notice.report("waiting for \(Self.text(holder)), which holds the lock '\(path)'")
        return true
    }

    private func busy(_ holder: LockHolder?, isStopped: Bool) -> StorageError {
        StorageError(
            .busy, "\(Self.text(holder))\(isStopped ? ", which is stopped," : "") holds the lock '\(path)'",
            hint: isStopped
                ? "let it continue or end it: kill -CONT \(holder?.process ?? 0)"
                : "try again when it has ended; end it if it is stuck")
    }

    private static func text(_ holder: LockHolder?) -> String { holder.map { "\($0)" } ?? "another process" }

    private static func isStopped(_ holder: LockHolder) -> Bool {
        let status = try? String(contentsOfFile: "/proc/\(holder.process)/status", encoding: .utf8)
        return status?.contains("\nState:\tT") == true
    }

    private static var lookEvery: Duration { .seconds(1) }
    private static var patienceWithStopped: Duration { .seconds(3) }
}

/// A file descriptor that is closed with its owner.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// The number, valid as long as this value is.
    package let raw: CInt

    /// Takes ownership of an open descriptor; `nil` for the -1 of a failed call, leaving its `errno`.
    package init?(_ raw: CInt) {
        guard raw >= 0 else { return nil }
        self.raw = raw
    }

    deinit { close(raw) }
}

extension FileLock {
    /// Holds a folder itself exclusively as long as the result lives, so that all who keep values in it share one lock,
    /// whatever their state folders. May wait.
    ///
    /// No file is created that someone else could replace by a link. The folder must belong to this user, to root, or,
    /// with the set-group-ID bit and closed to others, to a group.
    ///
    /// - Returns: `nil` if the folder is not there, so that nothing is kept in it, or if its file system, such as NFS,
    ///   locks no folders.
    /// - Throws: `permissionDenied` or `fileError` with the folder; `busy` with the holder.
    package func holdFolder() throws(StorageError) -> LockedFile? {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOCTTY
        guard let descriptor = OwnedDescriptor(open(path, flags)) else {
            if errno == ENOENT { return nil }
            throw StorageError(system: errno, "open the folder", path: path)
        }
        var status = stat()
        guard fstat(descriptor.raw, &status) == 0 else {
            throw StorageError(system: errno, "inspect", path: path)
        }
        let isGroups = FolderMaker.isOfGroup(status.st_mode) && status.st_mode & S_IWOTH == 0
        guard status.st_uid == geteuid() || status.st_uid == 0 || isGroups else {
            throw StorageError(
                .permissionDenied,
                "the folder '\(path)' belongs to uid \(status.st_uid), and is not shared by a group",
                hint:
                    "use a folder of your own, or one that its owner made for a group: with the set-group-ID bit, and "
                    + "not writable by others")
        }
        if flock(descriptor.raw, LOCK_EX | LOCK_NB) != 0 {
            guard ![EBADF, ENOLCK, EOPNOTSUPP, EINVAL].contains(errno) else { return nil }
            try wait(for: descriptor.raw, exclusively: true)
        }
        return LockedFile(descriptor, path: path, isExclusive: true)
    }
}
