internal import FoundationEssentials
internal import LocalDataAPI
internal import Synchronization

/// Remembers in which places of which stores a ring has sealed values, so that none is overlooked when a key is to be
/// retired: a store cannot list the folders that apps choose themselves.
final class SealedPlaces: Sendable {
    /// A place of a store.
    struct Place: Codable, Hashable, Sendable {
        let store: String
        let domain: String
        let scope: String
        let directory: String?

        init(_ store: String, _ place: StorageNamespace) {
            self.store = store
            domain = place.domain
            scope = place.scope
            directory = place.directory
        }

        var namespace: StorageNamespace { StorageNamespace(domain: domain, scope: scope, directory: directory) }
    }

    private let file: String
    private let known = Mutex<Set<Place>>([])

    init(file: String) { self.file = file }

    /// Remembers a place, durably before anything is sealed in it. May wait the first time.
    func add(_ place: Place) throws(StorageError) {
        if known.withLock({ $0.contains(place) }) { return }
        try FileLock("\(file).lock").exclusive { (_) throws(StorageError) in
            var places = try stored()
            if places.insert(place).inserted {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
                let list = places.sorted { "\($0)" < "\($1)" }
                guard let data = try? encoder.encode(list) else {
                    throw StorageError(.unknown, "the list of sealed places in '\(file)' cannot be written")
                }
                try HostFile.write(data, to: file)
            }
            let all = places
            known.withLock { $0 = all }
        }
    }

    /// Every place that any process has sealed values in.
    func all() throws(StorageError) -> Set<Place> { try stored() }

    private func stored() throws(StorageError) -> Set<Place> {
        guard HostFile.exists(file) else { return [] }
        guard let data = HostFile.contents(of: file, ownedByUser: true, limit: 64 << 20),
            let places = try? JSONDecoder().decode(Set<Place>.self, from: data)
        else {
            throw StorageError(
                .corrupt, "the list of sealed places '\(file)' cannot be read",
                hint: "restore it from a backup; without it no key can be retired")
        }
        return places
    }
}
