internal import DurableFiles
internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import Synchronization

extension FileLock {
    private static let notice = Mutex<(@Sendable (String) -> Void)?>(nil)

    /// Sets how the program reports a wait for a lock that lasts longer than a second. By default it does not: an app
    /// decides what it prints.
    ///
    /// - Parameter report: Called with e.g. `waiting for process 4711 ('ld-host', user 1000), which holds the lock
    ///   '/home/a/.local/state/localdata/batch.lock'`, at most once per wait, on the waiting thread.
    package static func reportWaits(_ report: @escaping @Sendable (String) -> Void) {
        notice.withLock { $0 = report }
    }

    /// Waits for the lock of an open file.
    ///
    /// - Throws: `busy` with the holder after `patience`, or earlier if the holder is stopped and so cannot release it.
    func wait(for descriptor: CInt, exclusively: Bool) throws(StorageError) {
        let start = ContinuousClock.now
        var look = Self.noticeAfter
        var pause = LockPause(from: 50, to: 5000)
        while flock(descriptor, (exclusively ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            guard code == EWOULDBLOCK else {
                throw StorageError(file: SystemCallError(code, "lock", path: path))
            }
            let waited = ContinuousClock.now - start
            if waited >= patience { throw busy(LockHolder(of: descriptor), isStopped: false) }
            if waited >= look {
                let holder = LockHolder(of: descriptor)
                if look == Self.noticeAfter { report(holder) }
                look = waited + Self.noticeAfter
                if waited >= Self.patienceWithStopped, let holder, Self.isStopped(holder) {
                    throw busy(holder, isStopped: true)
                }
            }
            pause.take()
        }
    }

    private func report(_ holder: LockHolder?) {
        let notice = Self.notice.withLock { $0 }
        notice?("waiting for \(Self.text(holder)), which holds the lock '\(path)'")
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

    private static var noticeAfter: Duration { .seconds(1) }
    private static var patienceWithStopped: Duration { .seconds(3) }
}
