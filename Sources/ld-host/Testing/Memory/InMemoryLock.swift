internal import LocalDataAPI

/// A lock of an ``InMemoryStore``.
public final class InMemoryLock: Sendable {
    let address: StorageAddress

    init(address: StorageAddress) { self.address = address }
}
