internal import FoundationEssentials
package import LocalDataAPI

/// The stores that have served a domain before the configuration was changed here, so that `doctor` finds what was
/// left in them: what only a domain named is in no configuration any more once the domain names another. And what an
/// operator has said may stay there.
package struct RouteHistory {
    /// A domain, and a store that does not serve it.
    package struct Left: Codable, Hashable {
        package let store: String
        package let domain: String

        package init(store: String, domain: String) { (self.store, self.domain) = (store, domain) }
    }

    private let file: String
    private let formerFile: String
    private let acknowledgedFile: String

    package init(_ folders: HostSettings.Folders) {
        file = "\(folders.state)/former-stores.json"
        formerFile = "\(folders.state)/former-routes.json"
        acknowledgedFile = "\(folders.state)/left-values.json"
    }

    /// The names of the stores, in order; none if there is no history that can be read.
    package var stores: [String] { Self.read(file) }

    /// For each domain the stores that have served it and do not now, unless all of its values were moved away since,
    /// or may stay there.
    package var formerRoutes: [String: [String]] {
        let left: [Left] = Self.read(formerFile)
        return Dictionary(grouping: left, by: \.domain).mapValues { $0.map(\.store).sorted() }
    }

    /// Values that may stay in their former stores.
    package var acknowledged: [Left] { Self.read(acknowledgedFile) }

    private static func read<Element: Decodable>(_ file: String) -> [Element] {
        guard let data = HostFile.contents(of: file, ownedByUser: false, limit: 1 << 20) else { return [] }
        return (try? JSONDecoder().decode([Element].self, from: data)) ?? []
    }

    /// Remembers the stores that serve a domain before a change and none after it. One that served nothing, such as a
    /// component that does not exist, is looked for in vain.
    func add(from before: HostSettings, to after: HostSettings) throws(StorageError) {
        // Values stored there from now on count as left behind again.
        let served = Set(before.routes.map { Left(store: $0.value.store.name, domain: $0.key) })
        if acknowledged.contains(where: served.contains) {
            try change(acknowledgedFile) { (left: inout Set<Left>) throws(StorageError) in left.subtract(served) }
        }
        let serving = Set(after.routes.map { Left(store: $0.value.store.name, domain: $0.key) })
        if !served.isSubset(of: serving) {
            try change(formerFile) { (left: inout Set<Left>) throws(StorageError) in
                left = left.union(served).subtracting(serving)
            }
        }
        let names = Set(before.routes.values.map(\.store.name)).subtracting(after.routes.values.map(\.store.name))
        guard !names.isSubset(of: stores) else { return }
        try change(file) { (stores: inout Set<String>) throws(StorageError) in stores.formUnion(names) }
    }

    /// Remembers that what a store has of some domains may stay there.
    package func acknowledge(_ domains: some Sequence<String>, in store: String) throws(StorageError) {
        try change(acknowledgedFile) { (left: inout Set<Left>) throws(StorageError) in
            left.formUnion(domains.map { Left(store: store, domain: $0) })
        }
        try emptied(store, of: domains)
    }

    /// Remembers that a store has nothing more of some domains, which it once served, or that it may stay there.
    package func emptied(_ store: String, of domains: some Sequence<String>) throws(StorageError) {
        guard formerRoutes.values.contains(where: { $0.contains(store) }) else { return }
        try change(formerFile) { (left: inout Set<Left>) throws(StorageError) in
            left.subtract(domains.map { Left(store: store, domain: $0) })
        }
    }

    /// Forgets a store.
    ///
    /// - Throws: `notFound` if it is not in the history.
    package func remove(_ store: String) throws(StorageError) {
        try change(file) { (stores: inout Set<String>) throws(StorageError) in
            guard stores.remove(store) != nil else {
                throw StorageError(.notFound, "'\(store)' is not among the former stores that are searched")
            }
        }
        try emptied(store, of: formerRoutes.keys)
    }

    /// Replaces the content of a file, while no other process does.
    private func change<Element: Codable & Hashable>(
        _ file: String, _ body: (inout Set<Element>) throws(StorageError) -> Void
    ) throws(StorageError) {
        try FileLock("\(file).lock").exclusive { (_) throws(StorageError) in
            var content = Set<Element>(Self.read(file))
            let before = content
            try body(&content)
            guard content != before else { return }
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let texts = content.compactMap { try? encoder.encode($0) }.sorted { $0.lexicographicallyPrecedes($1) }
            try HostFile.write(Data("[".utf8) + texts.joined(separator: Data(",".utf8)) + Data("]".utf8), to: file)
        }
    }
}
