internal import LocalDataAPI
internal import Synchronization

/// A transaction of an ``InMemoryStore``: the versions that it has seen, and its changes.
public final class InMemoryTransaction: Sendable {
    struct State {
        var seen: [StorageAddress: UInt64] = [:]
        var changes: [StorageAddress: InMemoryContents.Entry?] = [:]
    }
    let state = Mutex(State())
}
