internal import FoundationEssentials
internal import LocalDataAPI

/// The stores that have served a domain before the configuration was changed here, so that `doctor` finds what was left
/// in them: what only a domain named is in no configuration any more once the domain names another.
struct RouteHistory {
    private let file: String

    init(_ folders: HostSettings.Folders) { file = "\(folders.state)/former-stores.json" }

    /// The names of the stores, in order; none if there is no history that can be read.
    var stores: [String] {
        guard let data = HostFile.contents(of: file, ownedByUser: false, limit: 1 << 20) else { return [] }
        return (try? JSONDecoder().decode([String].self, from: data)) ?? []
    }

    /// Remembers the stores that serve a domain before a change and none after it. One that served nothing, such as a
    /// component that does not exist, is looked for in vain.
    func add(from before: HostSettings, to after: HostSettings) throws(StorageError) {
        let names = Set(before.routes.values.map(\.store.name)).subtracting(after.routes.values.map(\.store.name))
        guard !names.isSubset(of: stores) else { return }
        try change { (stores) throws(StorageError) in stores.formUnion(names) }
    }

    /// Forgets a store.
    ///
    /// - Throws: `notFound` if it is not in the history.
    func remove(_ store: String) throws(StorageError) {
        try change { (stores) throws(StorageError) in
            guard stores.remove(store) != nil else {
                throw StorageError(.notFound, "no store '\(store)' is looked at besides those that are configured")
            }
        }
    }

    /// Replaces the names, while no other process does.
    private func change(_ body: (inout Set<String>) throws(StorageError) -> Void) throws(StorageError) {
        try FileLock("\(file).lock").exclusive { (_) throws(StorageError) in
            var names = Set(stores)
            let before = names
            try body(&names)
            guard names != before else { return }
            let text = (try? JSONEncoder().encode(names.sorted())) ?? Data("[]".utf8)
            try HostFile.write(text, to: file)
        }
    }
}
