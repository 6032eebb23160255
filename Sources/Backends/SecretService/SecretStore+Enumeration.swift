package import LocalDataAPI

extension SecretStore: EnumerableBackend {
    package func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
    ) throws {
        let addresses = try addresses(with: ItemAttributes.of(place), "listing '\(place)'")
        let names = addresses.filter { address in
            address.place == place && address.name.utf8.starts(with: prefix.utf8)
                && after.map { $0.utf8.lexicographicallyPrecedes(address.name.utf8) } ?? true
        }.map(\.name).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for name in names.prefix(limit ?? names.count) where !body(name) { return }
    }

    package func forEachPlace(_ body: (StorageNamespace) -> Bool) throws {
        let places = Set(try addresses(with: [:], "listing \(options.collection)").map(\.place))
        for place in places where !body(place) { return }
    }

    /// The addresses of all items with these attributes.
    private func addresses(with attributes: [String: String], _ work: String) throws -> Set<StorageAddress> {
        try perform(work) { service in
            guard let collection = try service.path(of: options.collection) else { return [] }
            // A locked collection reveals enough of its items' attributes to find them, but not to read them.
            if try service.orMissing({ try service.isLocked(collection) }) == true { throw Locked(path: collection) }
            let items = try service.items(with: attributes, in: collection) ?? []
            return Set(try service.attributes(of: items).compactMap { $0.flatMap(ItemAttributes.address) })
        }
    }
}
