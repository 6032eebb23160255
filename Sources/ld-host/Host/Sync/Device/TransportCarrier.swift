internal import FoundationEssentials
internal import LocalDataAPI

/// A sync transport as the engine uses it.
final class TransportCarrier: SyncCarrier {
    private let transport: LoadedTransport
    /// Called when the transport has lost what it carried.
    var isLost: () -> Void = {}

    init(_ transport: LoadedTransport) { self.transport = transport }

    var largestRecord: Int { transport.largestRecord }

    func publish(_ records: [SyncRecord]) throws(StorageError) { try transport.publish(records) }

    func remove(_ names: [String], of writer: String) throws(StorageError) { try transport.remove(names, of: writer) }

    func fetch(since position: Data?, _ take: (SyncRecord) -> Bool) throws(StorageError) -> Data {
        do throws(StorageError) { return try transport.fetch(since: position, take) } catch {
            if error.code == .positionLost { isLost() }
            throw error
        }
    }
}
