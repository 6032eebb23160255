internal import ByteCoding
package import FoundationEssentials
internal import HostGround
package import LocalDataAPI

/// What a device knows of the stores that have its synced values. By it, the device notices a store that was put back
/// to an earlier state, and one that serves a domain again after another one did.
///
/// Encoded: version 1 (1 byte), the number of stores (2), each with its name (after its size, 2) and the number of its
/// last change (8); the number of services (2), each with the names of domain and store and the time (8); and the hash
/// of all that. Numbers are big-endian.
package struct SyncedStores: Equatable, Sendable {
    /// A store that serves a domain, or did.
    package struct Service: Hashable, Sendable {
        package let domain: String
        let store: String

        package init(domain: String, store: String) {
            self.domain = domain
            self.store = store
        }
    }

    /// The number of the last change that sync has made in a store, by the stores' names. Each of them keeps its own,
    /// too.
    package var changes: [String: UInt64] = [:]
    /// When sync has first found that another store serves the domain, in milliseconds since 1970 UTC; 0 while it has
    /// not.
    package var ends: [Service: UInt64] = [:]

    private static let version: UInt8 = 1

    package init() {}

    package func encoded() -> Data {
        var writer = ByteWriter(.bigEndian, [Self.version])
        writer.add(UInt16(changes.count))
        for (store, count) in changes.sorted(by: { $0.key < $1.key }) {
            writer.add(store)
            writer.add(count)
        }
        writer.add(UInt16(ends.count))
        for (service, end) in ends.sorted(by: { ($0.key.domain, $0.key.store) < ($1.key.domain, $1.key.store) }) {
            writer.add(service.domain)
            writer.add(service.store)
            writer.add(end)
        }
        writer.addHash()
        return Data(writer.bytes)
    }

    /// - Throws: `corrupt` if it is damaged; `unsupported` if a later program wrote it.
    package init(_ data: Data) throws(StorageError) {
        guard let stores = Self.decoded(data) else {
            throw SyncForm.error(
                decoding: data, known: Self.version,
                "sync's record of the stores, '\(HostSettings.syncNamespace)/stores',",
                ifDamaged:
                    "restore the store of the domain 'userDefaults' from a backup, or leave the group and join again"
            )
        }
        self = stores
    }

    private static func decoded(_ data: Data) -> SyncedStores? {
        guard var reader = ByteReader(hashed: .bigEndian, data), reader.number(UInt8.self) == version,
            let storeCount = reader.number(UInt16.self)
        else { return nil }
        var stores = SyncedStores()
        for _ in 0..<storeCount {
            guard let name = reader.optionalText() ?? nil, let count = reader.number(UInt64.self) else { return nil }
            stores.changes[name] = count
        }
        for _ in 0..<(reader.number(UInt16.self) ?? 0) {
            guard let domain = reader.optionalText() ?? nil, let store = reader.optionalText() ?? nil,
                let end = reader.number(UInt64.self)
            else { return nil }
            stores.ends[Service(domain: domain, store: store)] = end
        }
        return reader.isAtEnd ? stores : nil
    }
}
