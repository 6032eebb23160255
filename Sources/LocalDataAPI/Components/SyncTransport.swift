public import FoundationEssentials

/// Carries sealed records between devices. This is the protocol that a sync plugin implements.
///
/// Records are opaque: sealed end to end by the host, which also resolves conflicts. An implementation upholds:
///
/// - **Never loses what it acknowledged.** When `publish` returns, a later `fetch` by any device gives the record or a
///   later one of the same name.
/// - **Order.** Records of one name are handed out in the order of their publication; between names any order will do.
/// - **At least once.** A record may be handed out again; it is never handed out changed.
/// - **Waiting.** Every method may wait for the network and is called on threads of the host's own.
public protocol SyncTransport: Sendable {
    /// How the component presents itself.
    static var component: ComponentInfo { get }

    /// Connects; throws `storeUnavailable` if the other side cannot be reached.
    init(options: ComponentOptions, host: HostServices) throws

    /// Publishes a record under a name: at most 512 bytes of letters, digits, `.`, `_` and `-`.
    func publish(_ record: Data, name: String) throws

    /// Hands out every record published after `position` (`nil`: from the start) until `body` returns `false`, and
    /// returns the position to go on from.
    func fetch(since position: Data?, _ body: (_ name: String, _ record: Data) -> Bool) throws -> Data

    /// Calls `changed` whenever there may be something new to fetch, until the transport is no longer used.
    func subscribe(_ changed: @escaping @Sendable () -> Void) throws
}
