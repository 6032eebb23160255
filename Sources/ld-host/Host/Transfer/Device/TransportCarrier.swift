internal import FoundationEssentials
internal import HostPlugins
internal import HostSync
internal import LocalDataAPI

/// A sync transport as the engine uses it.
final class TransportCarrier: SyncCarrier {
    private let transport: LoadedTransport

    init(_ transport: LoadedTransport) { self.transport = transport }

    var largestRecord: Int { transport.largestRecord }

    func publish(_ records: [SyncRecord]) throws(StorageError) { try transport.publish(records) }

    func remove(_ names: [String], of writer: String) throws(StorageError) { try transport.remove(names, of: writer) }

    func fetch(since position: Data?, _ take: (SyncRecord) -> Bool) throws(StorageError) -> Data {
        try transport.fetch(since: position, take)
    }
}
