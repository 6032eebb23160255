internal import LocalDataPluginAPI
internal import Synchronization

/// Who gets notices until the end of the subscription.
final class Subscriber: Sendable {
    private let notify: Mutex<(@Sendable (SyncNotice) -> Void)?>

    init(_ notify: @escaping @Sendable (SyncNotice) -> Void) { self.notify = Mutex(notify) }

    /// Gives a notice, unless the subscription has ended.
    func tell(_ notice: SyncNotice) { notify.withLock { $0?(notice) } }

    /// Ends it; when this returns, no notice is running or will follow.
    func end() { notify.withLock { $0 = nil } }
}
