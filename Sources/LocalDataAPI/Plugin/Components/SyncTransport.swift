#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Carries sealed records between devices. This is the protocol that a sync plugin implements.
///
/// Records are opaque: the host seals them end to end, and resolves conflicts. Only the device with that name publishes
/// as a writer, and one of its processes at a time, so a transport has no conflict to solve. An implementation upholds:
///
/// - **The newest record of a name is never lost.** After `publish` returns, every device gets the record, or a later
///   one of the same writer and name, from a `fetch` since any earlier position; also after a power loss on this side.
///   If the other side carries records later, as a folder that another program copies, this holds once it has.
/// - **Order.** The records of one writer arrive in the order of their publication. Those that a later one of the same
///   name replaced may be left out. Nothing is promised about the records of different writers.
/// - **The last one counts.** What a fetch gives of a name ends with its newest record; of a removed name with the last
///   one before the removal, or nothing.
/// - **At least once.** A record may arrive again, but never changed. A part of a record never arrives.
/// - **Own records** are fetched as those of others are.
/// - **Waiting.** Every method may wait for the network. The host calls it on threads of its own, many at once.
public protocol SyncTransport: Sendable {
    /// What ends a subscription.
    associatedtype Subscription: Sendable

    /// How the component presents itself.
    static var component: ComponentInfo { get }

    /// Opens the transport. If the other side cannot be reached now, this succeeds, and the calls throw
    /// `storeUnavailable` until it can; what can never work is refused here.
    init(options: ComponentOptions, host: HostServices) throws

    /// The most bytes of one record's content; at least 262,144.
    var largestRecord: Int { get }

    /// Publishes records of one writer, in order, durably: all of them, or the first ones if it throws. To publish one
    /// again does no harm.
    ///
    /// - Parameter records: At most 1,024, all of one writer.
    /// - Throws: `storeUnavailable` if the other side cannot be reached; `durabilityUnknown` if it is unknown
    ///   which records were published.
    func publish(_ records: [SyncRecord]) throws

    /// Removes records of a writer, which no fetch needs to give any more; an absent one is fine.
    func remove(_ names: [String], of writer: String) throws

    /// Passes the records that were published after a position to `body` until it returns `false`.
    ///
    /// - Parameter position: What an earlier call returned; `nil`: from the beginning.
    /// - Returns: The position after the last record that was passed to `body`: at most 4,096 bytes.
    /// - Throws: `positionLost` if the transport cannot resume from the position, e.g. since the other side was
    ///   set up again. The host then fetches from the beginning, and publishes its own records that it does not find.
    func fetch(since position: Data?, _ body: (SyncRecord) -> Bool) throws -> Data

    /// Calls `notify` on any thread whenever there may be something new to fetch, and when reachability changes. A
    /// notice may be about nothing; none is left out while the subscription lasts. `notify` does not wait.
    func subscribe(_ notify: @escaping @Sendable (SyncNotice) -> Void) throws -> Subscription

    /// Ends a subscription; when it returns, `notify` is not running and will not run again.
    func unsubscribe(_ subscription: Subscription)

    /// Asks all calls that wait for the other side to return soon with `cancelled`.
    func cancel()
}
