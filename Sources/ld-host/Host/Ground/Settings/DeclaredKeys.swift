package import LocalDataAPI
internal import Synchronization

/// The keys that containers and vaults of this process have declared by being used. They count as those of a catalog,
/// whenever the app registers its own ones.
package final class DeclaredKeys: Sendable {
    /// A key, and what it is listed under.
    package struct Entry {
        package let key: AnyStorageKey
        package let catalog: String
    }

    private let state = Mutex<[StorageDomain: [String: Entry]]>([:])

    package init() {}

    /// Declares the keys of a catalog.
    package func add(_ catalog: some StorageKeyCatalog) {
        for key in catalog.allKeys { add(key, of: catalog.name) }
    }

    /// Declares a key.
    package func add(_ key: AnyStorageKey, of catalog: String) {
        let descriptor = key.descriptor
        state.withLock { $0[descriptor.domain, default: [:]][descriptor.name] = Entry(key: key, catalog: catalog) }
    }

    /// Whether an address is that of a declared key.
    package func contains(_ address: StorageAddress, _ settings: HostSettings) -> Bool {
        state.withLock { state in
            state.contains { domain, keys in
                keys[address.name] != nil && (try? settings.place(of: domain)) == address.place
            }
        }
    }

    /// The declared keys by address.
    package func entries(_ settings: HostSettings) -> [StorageAddress: Entry] {
        var entries: [StorageAddress: Entry] = [:]
        for (domain, keys) in state.withLock({ $0 }) {
            guard let place = try? settings.place(of: domain) else { continue }
            for (name, entry) in keys { entries[StorageAddress(place, name: name)] = entry }
        }
        return entries
    }
}
