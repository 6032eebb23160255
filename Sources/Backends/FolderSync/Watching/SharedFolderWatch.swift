import CLinux
import DurableFiles
import Glibc
import LocalDataPluginAPI
import Synchronization

/// What ends a subscription.
final class FolderSubscription: Sendable {
    /// Locked during a call; `nil` after the end.
    private let notify: Mutex<(@Sendable (SyncNotice) -> Void)?>

    init(_ notify: @escaping @Sendable (SyncNotice) -> Void) { self.notify = Mutex(notify) }

    func tell(_ notice: SyncNotice) { notify.withLock { $0?(notice) } }

    /// When this returns, no notice is running or will follow.
    func end() { notify.withLock { $0 = nil } }
}

/// The subscriptions to a shared folder. While there are any, a thread notifies them: when the system reports a
/// change, see inotify(7), and when a look every few seconds finds one, since no system reports those of other
/// machines.
final class SharedFolderWatch: Sendable {
    private struct State {
        var subscriptions: [FolderSubscription] = []
        var thread: FolderWatchThread?
    }

    private let folder: SharedFolder
    private let poll: Int
    private let log: @Sendable (String) -> Void
    private let state = Mutex(State())

    init(_ folder: SharedFolder, poll: Int, log: @escaping @Sendable (String) -> Void) {
        (self.folder, self.poll, self.log) = (folder, poll, log)
    }

    deinit { state.withLock { $0.thread }?.end() }

    /// Begins a subscription. The first notice says whether the folder is reachable.
    ///
    /// - Throws: `StorageError` if no thread can be started.
    func subscribe(_ notify: @escaping @Sendable (SyncNotice) -> Void) throws -> FolderSubscription {
        let subscription = FolderSubscription(notify)
        try state.withLock { state in
            let thread =
                try state.thread
                ?? FolderWatchThread(folder, poll: poll, log: log) { [weak self] notice in
                    self?.tell(notice)
                }
            state.thread = thread
            state.subscriptions.append(subscription)
            thread.note(.newSubscription)
        }
        return subscription
    }

    func unsubscribe(_ subscription: FolderSubscription) {
        let ended: FolderWatchThread? = state.withLock { state in
            state.subscriptions.removeAll { $0 === subscription }
            return state.subscriptions.isEmpty ? state.thread.take() : nil
        }
        subscription.end()
        ended?.end()
    }

    /// Reports a change by this process.
    func noteChange() { state.withLock { $0.thread }?.note(.change) }

    /// Has a later look report a change: something could not be read.
    func expectMore() { state.withLock { $0.thread }?.note(.retry) }

    private func tell(_ notice: SyncNotice) {
        for subscription in state.withLock({ $0.subscriptions }) { subscription.tell(notice) }
    }
}

func runWatchThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    ld_linux_name_thread("ld-folder-sync")
    // Only the program's own threads handle signals.
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
    if let argument { Unmanaged<FolderWatchThread>.fromOpaque(argument).takeRetainedValue().run() }
    return nil
}
