internal import CLocalData
internal import LocalDataAPI
internal import Synchronization

/// A running subscription, ended by ``LoadedTransport/unsubscribe(_:)``.
package final class TransportSubscription: @unchecked Sendable {
    // The token is opaque to the host, and the boundary's rules let any thread pass it to the transport.
    let token: UnsafeMutableRawPointer?
    let listener: NoticeListener
    private let isOver = Atomic(false)

    init(token: UnsafeMutableRawPointer?, listener: NoticeListener) {
        self.token = token
        self.listener = listener
    }

    /// Whether this call ends it.
    func end() -> Bool { !isOver.exchange(true, ordering: .relaxed) }
}

/// Receives a transport's notices, on any thread until the subscription is ended.
final class NoticeListener: Sendable {
    private let number: UInt

    private static let listening = ListenerTable<@Sendable (SyncNotice) -> Void>()

    init(_ component: ComponentIdentity, _ notify: @escaping @Sendable (SyncNotice) -> Void) {
        number = Self.listening.add(notify, of: component)
    }

    /// The context for the transport; valid until ``end()``.
    var context: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: number) }

    func end() { Self.listening.remove(number) }

    fileprivate static func take(_ context: UnsafeMutableRawPointer?, _ notice: Int32) {
        guard let notify = listening.find(context, else: "notified a subscriber after its subscription had ended")
        else { return }
        if let notice = SyncNotice(rawValue: notice) { return notify(notice) }
        ListenerNumber.component(of: UInt(bitPattern: context))?.logMisuse("gave the unknown notice \(notice)")
        // Whatever it means, there may be something new.
        notify(.changed)
    }
}

func takeNotice(context: UnsafeMutableRawPointer?, notice: Int32) { NoticeListener.take(context, notice) }
