package import LocalDataAPI

/// The keys of all registered catalogs, by address.
package struct CatalogIndex: Sendable {
    package private(set) var entries: [StorageAddress: AnyStorageKey] = [:]
    package private(set) var catalogs: [String] = []
    /// Keys without a namespace under this configuration, e.g. for lack of a default service, and why.
    package private(set) var unplaced: [(key: AnyStorageKey, catalog: String, error: StorageError)] = []
    private var owners: [StorageAddress: String] = [:]

    package init() {}

    /// The catalog that lists an address.
    package func catalog(of address: StorageAddress) -> String? { owners[address] }

    /// Adds a catalog's keys. A key without a namespace is no error until it is used.
    ///
    /// - Throws: `missingDescription` or `duplicateRegisteredKeys` with the keys; `securityApplicationFailed` for one
    ///   that must stay on the device but has a sync policy. Then nothing was added.
    package mutating func add(_ catalog: any StorageKeyCatalog, settings: HostSettings) throws(StorageError) {
        var added = entries
        let keys = catalog.allKeys
        let undescribed = keys.map(\.descriptor).filter { $0.description.allSatisfy(\.isWhitespace) }
        guard undescribed.isEmpty else {
            throw StorageError(
                .missingDescription,
                "catalog '\(catalog.name)' has keys without a description: \(list(undescribed.map(\.name)))",
                hint: "describe each of them; audits show it")
        }
        if let (key, why) = keys.lazy.compactMap({ key in key.descriptor.syncRefusal.map { (key, $0) } }).first {
            throw StorageError(
                .securityApplicationFailed,
                "catalog '\(catalog.name)': '\(key.address)' \(why), so it never leaves this device, but its sync "
                    + "policy is \(key.descriptor.syncPolicy.rawValue)",
                hint: "give the key the sync policy never, or let its values leave the device")
        }
        var unplaced = unplaced
        var duplicates: [String] = []
        for key in keys {
            do throws(StorageError) {
                let address = StorageAddress(try settings.place(of: key.descriptor.domain), name: key.descriptor.name)
                try address.validate()
                if added.updateValue(key, forKey: address) != nil { duplicates.append("\(address)") }
            } catch {
                unplaced.append((key, catalog.name, error))
            }
        }
        guard duplicates.isEmpty else {
            throw StorageError(
                .duplicateRegisteredKeys, "catalog '\(catalog.name)' registers again: \(list(duplicates))",
                hint: "register each key only once, in one catalog")
        }
        for address in added.keys where owners[address] == nil { owners[address] = catalog.name }
        entries = added
        self.unplaced = unplaced
        catalogs.append(catalog.name)
    }

    private func list(_ names: [String]) -> String { names.map { "'\($0)'" }.joined(separator: ", ") }
}

extension CatalogManifest {
    /// The most bytes of a manifest's file: one of 100,000 keys takes about 20 MB.
    private static let largest = 64 << 20

    /// Reads a manifest's file, of at most 64 MiB.
    ///
    /// - Throws: `invalidConfiguration` with the file.
    package init(file path: String) throws(StorageError) {
        guard let data = HostFile.contents(of: path, ownedByUser: false, limit: Self.largest) else {
            if let size = HostFile.size(of: path), size > Self.largest {
                throw StorageError(
                    .invalidConfiguration,
                    "the catalog '\(path)' has \(size) bytes; expected at most \(Self.largest)",
                    hint: "split the app's catalog into several, each with a file of its own in 'catalogs'")
            }
            throw StorageError(
                .invalidConfiguration, "the catalog '\(path)' cannot be read, or is not a regular file",
                hint: "correct 'catalogs' in the configuration, or let the app write the manifest again")
        }
        try self.init(json: data, source: path)
    }
}
