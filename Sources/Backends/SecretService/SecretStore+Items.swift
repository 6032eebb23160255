internal import LocalDataPluginAPI

extension SecretStore {
    /// The items at one address: the one that counts, and the others.
    struct Found {
        let item: String
        let others: [String]
    }

    /// The items of a key; `nil` if absent.
    func find(_ key: SecretKey, _ service: Service) throws -> Found? {
        guard let collection = try service.path(of: options.collection) else { return nil }
        guard let items = try service.items(with: key.attributes, in: collection) else {
            service.link.forgetCollections()
            try checkDefault(collection, has: key.attributes, service)
            return nil
        }
        guard let first = items.first else {
            try checkAbsence(of: key.attributes, in: collection, service)
            return nil
        }
        guard items.count > 1 else { return Found(item: first, others: []) }
        func rank(_ item: String, _ properties: ItemProperties) -> (UInt64, Int, Int, String) {
            (properties.modified, properties.attributes[ItemAttributes.kept] == nil ? 0 : 1, item.utf8.count, item)
        }
        let ranked = zip(items, try service.properties(of: items)).compactMap { item, properties in
            properties.map { rank(item, $0) }
        }.sorted { $0 > $1 }.map(\.3)
        guard let newest = ranked.first else { return nil }
        return Found(item: newest, others: Array(ranked.dropFirst()))
    }

    /// Makes sure that an empty search result means that there is no item: some services hide locked items, the default
    /// collection may be another one than before, and gnome-keyring, on a busy machine, has overlooked an item once.
    func checkAbsence(of attributes: [String: String], in collection: String, _ service: Service) throws {
        let hidesItems = try service.orMissing {
            try service.isLocked(collection) && service.items(in: collection).isEmpty
        }
        if hidesItems == true { throw Locked(path: collection) }
        // All is tried again.
        guard try service.items(with: attributes, in: collection)?.isEmpty != false else {
            throw BusFailure.missingObject
        }
        try checkDefault(collection, has: attributes, service)
    }

    /// Makes sure that the default collection has what was stored in it: a person who makes a new keyring, or another
    /// service, makes another collection the default one, and then no value is absent only because of that.
    func checkDefault(_ collection: String, has attributes: [String: String], _ service: Service) throws {
        guard case .standard = options.collection else { return }
        let attributes = attributes.merging(ItemAttributes.ofDefault) { $1 }
        let all = try service.items(with: attributes)
        guard !all.isEmpty else { return }
        let present = Set(try service.items(with: attributes, in: collection) ?? [])
        // What another program has removed meanwhile is nowhere.
        for item in all where !present.contains(item) {
            guard let elsewhere = try service.label(ofCollectionOf: item) else { continue }
            throw StorageError(
                .keychainError,
                "values that were stored in the default collection are in the collection '\(elsewhere)' now: another "
                    + "collection has become the default one",
                hint: "make '\(elsewhere)' the default again, or set option 'collection' of the store to it")
        }
    }

    /// Creates an item, and its collection if that is missing.
    func make(_ key: SecretKey, _ kept: String, _ secret: Variant, _ service: Service) throws {
        var attributes = key.attributes(application: options.application, kept: kept)
        if case .standard = options.collection { attributes.merge(ItemAttributes.ofDefault) { $1 } }
        var collection = try service.path(of: options.collection)
        if let path = collection {
            let made: Void? = try service.orMissing {
                try finish(service.make(key.label, attributes, secret, in: path), service)
            }
            guard made == nil else { return }
            service.link.forgetCollections()
            collection = nil
        }
        let path = try makeCollection(service)
        try finish(service.make(key.label, attributes, secret, in: path), service)
    }

    /// Replaces the secret of an existing item.
    ///
    /// The attributes change first: if that fails, the old value stays.
    func change(_ found: Found, to secret: Variant, _ kept: String, _ service: Service) throws {
        guard var attributes = try service.attributes(of: [found.item]).first ?? nil else {
            throw BusFailure.missingObject
        }
        let old = attributes[ItemAttributes.kept]
        if !(old ?? "{}").utf8.elementsEqual(kept.utf8) {
            attributes[ItemAttributes.kept] = kept
            try service.setAttributes(of: found.item, to: attributes)
        }
        try service.setSecret(of: found.item, to: secret)
        guard !found.others.isEmpty else { return }
        for (other, attributes) in zip(found.others, try service.attributes(of: found.others))
        where attributes?[ItemAttributes.kept] != nil {
            _ = try delete(other, service)
        }
    }

    /// Deletes an item; `false` if someone else has already deleted it.
    func delete(_ item: String, _ service: Service) throws -> Bool {
        try service.orMissing {
            try finish(service.delete(item), service)
            return true
        } ?? false
    }
}
