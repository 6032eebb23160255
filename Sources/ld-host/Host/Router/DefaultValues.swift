internal import LocalDataAPI
internal import Synchronization

/// Values to return for keys without a stored value.
final class DefaultValues: Sendable {
    struct Target: Hashable {
        let address: StorageAddress
        let directory: String?

        init(_ address: StorageAddress) {
            self.address = address
            directory = address.place.directory
        }
    }

    private let values = Mutex<[Target: any Sendable]>([:])

    func set(_ value: some Sendable, for target: Target) { values.withLock { $0[target] = value } }

    func value(for target: Target) -> (any Sendable)? { values.withLock { $0[target] } }
}
