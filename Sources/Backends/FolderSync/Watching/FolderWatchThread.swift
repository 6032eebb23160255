import CLinux
import DurableFiles
import Glibc
import LocalDataPluginAPI
import Synchronization

/// The thread that notifies the subscriptions of a folder, one notice after the other. What happens during a notice
/// leads to one more.
final class FolderWatchThread: Sendable {
    /// Why the thread looks at the folder.
    struct Reasons: OptionSet, Sendable {
        let rawValue: Int
        static let change = Reasons(rawValue: 1)
        static let newSubscription = Reasons(rawValue: 2)
        static let retry = Reasons(rawValue: 4)
        static let end = Reasons(rawValue: 8)
    }

    private let folder: SharedFolder
    private let poll: Int
    private let tell: @Sendable (SyncNotice) -> Void
    private let reasons = Mutex(Reasons())
    private let watch = Mutex<FolderWatch?>(nil)
    nonisolated(unsafe) private let wake = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    /// Starts the thread, which keeps this object until ``end()``.
    ///
    /// - Parameter watches: Whether to ask the system for changes, too.
    /// - Throws: `StorageError`.
    init(
        _ folder: SharedFolder, poll: Int, watches: Bool = true, log: (String) -> Void,
        tell: @escaping @Sendable (SyncNotice) -> Void
    ) throws {
        (self.folder, self.poll, self.tell) = (folder, poll, tell)
        sem_init(wake, 0, 0)
        if watches {
            do { try beginWatch() } catch {
                log("changes of '\(folder.path)' are noticed only every \(poll) s: \(error)")
            }
        }
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(self).toOpaque()
        let code = pthread_create(&thread, nil, runWatchThread, argument)
        guard code == 0 else {
            Unmanaged<FolderWatchThread>.fromOpaque(argument).release()
            throw StorageError(system: code, "start the thread that watches", path: folder.path)
        }
        pthread_detach(thread)
    }

    deinit {
        watch.withLock { $0?.end() }
        sem_destroy(wake)
        wake.deallocate()
    }

    private func beginWatch() throws {
        let begun = try FolderWatch(
            folder.path, includesWrites: true, entersFolder: { SyncRecord.isUsable($0) },
            changed: { [weak self] _ in self?.note(.change) })
        watch.withLock { $0 = begun }
    }

    func note(_ reason: Reasons) {
        let isFirst = reasons.withLock { reasons in
            defer { reasons.formUnion(reason) }
            return !reasons.contains(reason)
        }
        if isFirst && reason != .retry { sem_post(wake) }
    }

    /// Asks the thread to end.
    func end() {
        watch.withLock { watch in
            watch?.end()
            watch = nil
        }
        note(.end)
    }

    func run() {
        var isReachable: Bool?
        var fingerprint = try? folder.fingerprint()
        var nextLook = Self.now + poll
        while true {
            let isDue = Self.now >= nextLook
            let found = take(withRetry: isDue)
            if found.contains(.end) { return }
            let before = isReachable
            let isHere = (try? folder.reach()) != nil
            isReachable = isHere
            var isChanged = !found.isDisjoint(with: [.change, .retry])
            if isDue {
                let latest = try? folder.fingerprint()
                isChanged = isChanged || latest != fingerprint
                fingerprint = latest
                nextLook = Self.now + poll
            }
            if isHere != before || found.contains(.newSubscription) {
                tell(isHere ? .reachable : .unreachable)
            } else if isChanged, isHere {
                tell(.changed)
            }
            wait(until: nextLook)
        }
    }

    private func take(withRetry: Bool) -> Reasons {
        reasons.withLock { reasons in
            let taken = withRetry ? reasons : reasons.subtracting(.retry)
            reasons.subtract(taken)
            return taken
        }
    }

    private func wait(until second: Int) {
        var deadline = timespec(tv_sec: second, tv_nsec: 0)
        while ld_linux_sem_wait_until(wake, &deadline) != 0 { if errno != EINTR { return } }
    }

    /// Seconds of the monotonic clock.
    private static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec
    }
}
