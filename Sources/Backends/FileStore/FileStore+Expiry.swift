import DurableFiles
import LocalDataPluginAPI

/// A value's attribute says when it expires. Where the file system keeps no attributes, no value can expire.
extension FileStore: ExpiringBackend {
    func discard(_ key: FileKey) throws {
        if isFrozen { return }
        _ = try discardFile(key.path, in: key.place)
    }

    /// Looks at each file of a folder that has held values that expire, and at no other folder's.
    func sweep(_ place: StorageNamespace?, limit: Int) throws -> Int {
        if isFrozen { return 0 }
        guard let place else {
            var removed = 0
            for place in try placesThatExpire() where removed < limit {
                removed += try sweep(place, limit: limit - removed)
            }
            return removed
        }
        let directory = try directory(of: place)
        guard try directory.mayExpire else { return 0 }
        var removed = 0
        _ = try ValueListing(directory: directory).forEachName { name in
            if try discardFile(FileName.path(of: name, in: directory), in: directory) { removed += 1 }
            return removed < limit
        }
        return removed
    }

    func forEachExpired(in place: StorageNamespace, _ body: (String) -> Bool) throws {
        let directory = try directory(of: place)
        guard try directory.mayExpire else { return }
        _ = try ValueListing(directory: directory).forEachName { name in
            let file = try directory.open(FileName.path(of: name, in: directory))
            guard let file, try StoredAttributes.recorded(of: file).isExpired else { return true }
            return body(name)
        }
    }

    private func placesThatExpire() throws -> [StorageNamespace] {
        var places: [StorageNamespace] = []
        _ = try ValueListing(directory: root).forEachPlaceFolder { folders, last in
            if let place = PlaceName.place(folders: folders, last: last), try directory(of: place).mayExpire {
                places.append(place)
            }
            return true
        }
        return places
    }

    /// Removes a file if its value has expired and nobody replaces it meanwhile; returns whether it did.
    private func discardFile(_ path: RelativePath, in place: DurableDirectory) throws -> Bool {
        guard let file = try place.open(path), try StoredAttributes.recorded(of: file).isExpired else {
            return false
        }
        let expectation = try FileExpectation(path, in: place, file)
        return try batches.apply([FileChange(in: place, path, content: nil)], onlyIf: [expectation])
    }
}

extension FileStore {
    /// The attribute for a value to be written.
    func attribute(_ attributes: ValueAttributes?, of key: FileKey) throws -> FileAttribute {
        if attributes?.expires != nil { try expectExpiry(in: key.place) }
        return try StoredAttributes.encoded(attributes)
    }

    /// Notes durably that a folder holds values that expire.
    ///
    /// - Throws: `unsupported` if its file system keeps no attributes.
    func expectExpiry(in place: DurableDirectory) throws {
        try requireAttributes(in: place, for: "when a value expires")
        guard try !place.mayExpire else { return }
        try place.replace(.expiring, with: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// - Throws: `unsupported` if the file system of a folder keeps no attributes.
    func requireAttributes(in place: DurableDirectory, for what: String) throws {
        guard try !place.keepsAttributes(named: StoredAttributes.name) else { return }
        throw StorageError(
            .unsupported,
            "the file system of '\(place.path)' has no extended attributes, so the store cannot record \(what)",
            hint: "move the store to a file system with extended attributes, or map the domain to another store")
    }

    /// Passes the names of values that have not expired; see ``forEachName(in:prefix:after:limit:_:)``.
    func forEachPresentName(
        in directory: DurableDirectory, links: Bool, prefix: String, after: String?, limit: Int?,
        _ body: (String) -> Bool
    ) throws {
        var (rest, last) = (limit ?? .max, after)
        while rest > 0 {
            let names = try listed.names(
                in: directory, links: links, prefix: prefix, after: last, limit: limit.map { _ in rest })
            for name in names {
                last = name
                guard try isPresent(name, in: directory) else { continue }
                rest -= 1
                guard body(name) else { return }
            }
            guard limit != nil, !names.isEmpty else { return }
        }
    }

    private func isPresent(_ name: String, in directory: DurableDirectory) throws -> Bool {
        do {
            let file = try directory.open(FileName.path(of: name, in: directory))
            guard let file else { return false }
            return try !StoredAttributes.recorded(of: file).isExpired
        } catch let error as StorageError {
            guard case .irregularFile = error.cause else { throw error }
            return true
        }
    }
}

extension DurableDirectory {
    /// Whether the folder has held values that expire.
    var mayExpire: Bool { get throws { try exists(.expiring) } }
}

extension RelativePath {
    /// Marks a folder that has held values that expire.
    static let expiring = RelativePath(".expiring")
}
