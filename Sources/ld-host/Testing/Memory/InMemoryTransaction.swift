internal import LocalDataAPI
internal import Synchronization

/// A transaction of an ``InMemoryStore``: what it has seen, and what it will change.
public final class InMemoryTransaction: Sendable {
    struct State {
        var seen: [StorageAddress: UInt64] = [:]
        var changes: [StorageAddress: InMemoryContents.Entry?] = [:]
    }
    let state = Mutex(State())
}
