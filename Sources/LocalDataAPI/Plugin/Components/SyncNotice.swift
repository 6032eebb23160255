/// A notice of a sync transport to its subscriber.
public enum SyncNotice: Int32, CaseIterable, Hashable, Sendable {
    /// There may be something new to fetch.
    case changed = 0
    /// The other side can be reached, again or for the first time. There may be something new to fetch, too.
    case reachable = 1
    /// The other side cannot be reached. The transport goes on trying by itself.
    case unreachable = 2
}
