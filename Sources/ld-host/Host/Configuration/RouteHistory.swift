internal import FoundationEssentials
internal import LocalDataAPI

/// The stores that have served a domain before the configuration was changed here, so that `doctor` finds what was left in
/// them: what only a domain named is in no configuration any more once the domain names another.
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
        try write(Set(stores).union(names))
    }

    /// Forgets a store.
    ///
    /// - Throws: `notFound` if it is not in the history.
    func remove(_ store: String) throws(StorageError) {
        guard stores.contains(store) else {
            throw StorageError(.notFound, "no store '\(store)' is looked at besides those that are configured")
        }
        try write(Set(stores).subtracting([store]))
    }

    private func write(_ names: Set<String>) throws(StorageError) {
        guard names != Set(stores) else { return }
        let text = (try? JSONEncoder().encode(names.sorted())) ?? Data("[]".utf8)
        try HostFile.write(text, to: file)
    }
}
