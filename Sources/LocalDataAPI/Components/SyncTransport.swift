public import FoundationEssentials

/// Carries sealed records between devices. This is the protocol that a sync plugin implements.
///
/// Records are opaque: the host seals them end to end and resolves conflicts. An implementation upholds:
///
/// - **Never loses what it acknowledged.** After `publish` returns, a later `fetch` by any device returns the record or
///   a later one of the same name.
/// - **Order.** Records of one name arrive in the order of their publication; records of different names in any order.
/// - **At least once.** A record may arrive again, but never changed.
/// - **Waiting.** Every method may wait for the network. The host calls it on threads of its own.
public protocol SyncTransport: Sendable {
    /// How the component presents itself.
    static var component: ComponentInfo { get }

    /// Connects; throws `storeUnavailable` if the other side cannot be reached.
    init(options: ComponentOptions, host: HostServices) throws

    /// Publishes a record under a name: at most 512 bytes of letters, digits, `.`, `_` and `-`.
    func publish(_ record: Data, name: String) throws

    /// Passes every record published after `position` (`nil`: from the start) to `body` until it returns `false`, and
    /// returns the position to resume from.
    func fetch(since position: Data?, _ body: (_ name: String, _ record: Data) -> Bool) throws -> Data

    /// Calls `changed` whenever there may be something new to fetch, for as long as the transport is in use.
    func subscribe(_ changed: @escaping @Sendable () -> Void) throws
}
