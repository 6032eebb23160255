internal import DurableFiles
internal import Glibc
internal import HostGround
internal import HostPlugins
package import LocalDataAPI
internal import Synchronization

/// The names of a namespace that belong to its domain when all of the domain's values are listed.
package enum ListedNames: Sendable {
    case all
    /// Only these, ordered by their bytes: other programs use the folder, too.
    case only([String])
}

/// A namespace of a domain that has values, or may have some.
package struct KnownPlace: Sendable {
    package let domain: StorageDomain
    package var names = ListedNames.all

    /// Whether each name in the namespace belongs to the domain.
    package var isWhole: Bool { if case .all = names { true } else { false } }
}

/// Namespaces with their own folders, which stores do not list.
extension RouterSnapshot {
    /// The namespaces of a domain that are known without a store: by the configuration, by the folders of app groups
    /// and of the caches of apps, and by the keys of catalogs.
    ///
    /// A folder of a group, an app or a catalog that this user may not read is left out, with a warning. Creates
    /// nothing. May wait.
    ///
    /// - Parameter open: The store to search.
    package func knownPlaces(of domain: String, in open: OpenStore) -> [StorageNamespace: KnownPlace] {
        var known = settings.knownDomains(named: domain).mapValues { KnownPlace(domain: $0) }
        let found = ownFolders(of: domain).merging(catalogedPlaces(of: domain, in: open)) { first, _ in first }
        for (place, candidate) in found where known[place] == nil && isReadable(place, candidate.names, in: open) {
            known[place] = candidate
        }
        return known
    }

    /// The namespaces of app groups, and of the caches of apps.
    private func ownFolders(of domain: String) -> [StorageNamespace: KnownPlace] {
        let groups = settings.appGroupsFolder
        let domains: [StorageDomain]
        switch domain {
        case "appGroupUserDefaults": domains = names(in: groups).map { .appGroupUserDefaults(identifier: $0) }
        case "appGroupFileSystem":
            domains = names(in: groups).flatMap {
                [.appGroupFileSystem(id: $0), .appGroupFileSystem(id: $0, directory: .caches)]
            }
        case "fileSystem": domains = appCaches.map { .fileSystem(directory: $0) }
        case "encryptedFileSystem": domains = appCaches.map { .encryptedFileSystem(directory: $0) }
        default: return [:]
        }
        var places: [StorageNamespace: KnownPlace] = [:]
        for domain in domains {
            // Others may keep folders there that cannot be a group's or an app's.
            if let place = try? settings.place(of: domain) { places[place] = KnownPlace(domain: domain) }
        }
        return places
    }

    private var appCaches: [FileDirectory] {
        ([""] + names(in: settings.appCachesFolder)).map { .caches(of: $0) }
    }

    /// The names in a folder of the host's; none if it is missing.
    private func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else {
            let code = errno
            if code != ENOENT { passOver(folder, StorageError(system: code, "open the folder", path: folder)) }
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }

    private func catalogedPlaces(of domain: String, in open: OpenStore) -> [StorageNamespace: KnownPlace] {
        var places: [StorageNamespace: KnownPlace] = [:]
        var shared: [StorageNamespace: [String]] = [:]
        let entries = described.entries.merging(catalog?.entries ?? [:]) { first, _ in first }
        for (address, key) in entries where address.place.directory != nil && address.place.domain == domain {
            places[address.place] = KnownPlace(domain: key.descriptor.domain)
            if isSharedFolder(address.place, in: open) { shared[address.place, default: []].append(address.name) }
        }
        for (place, names) in shared {
            places[place]?.names = .only(names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        }
        return places
    }

    /// Whether other programs may keep files of their own among the values of a namespace.
    func isSharedFolder(_ place: StorageNamespace, in open: OpenStore) -> Bool {
        place.domain == "fileSystem" && place.scope.utf8.first == UInt8(ascii: "/")
            && !open.store.properties.keepsFoldersApart
    }

    private func isReadable(_ place: StorageNamespace, _ names: ListedNames, in open: OpenStore) -> Bool {
        guard let folder = place.directory else { return true }
        do throws(StorageError) { _ = try DurableDirectory(root: folder).tellingStatus() } catch {
            guard error.isRefusal || [ELOOP, ENOTDIR].contains(error.systemError) else { return true }
            passOver(folder, error)
            return false
        }
        do throws(StorageError) { _ = try open.store.hasValue(in: place, names) } catch {
            // Listing the namespace reports any other error.
            guard error.code == .permissionDenied else { return true }
            passOver(folder, error)
            return false
        }
        return true
    }

    /// Whether a namespace that a store lists has addresses. If not, a warning says so once: what no command could read
    /// or remove must not fail those that list.
    package func isListed(_ place: StorageNamespace, in open: OpenStore) -> Bool {
        if addressable(place) != nil { return true }
        if passedOver.withLock({ $0.insert("\(open.name)\0\(place)").inserted }) {
            log(.warning, "places", "values of '\(place)' in store '\(open.name)' are skipped: no address names them")
        }
        return false
    }

    /// The namespace as this configuration has it, with its folder; `nil` if no address names it.
    package func addressable(_ place: StorageNamespace) -> StorageNamespace? {
        if let found = settings.addressable(place) { return found }
        // The folder of a group is named by its keys alone.
        return [described, catalog].compactMap(\.self).flatMap(\.entries.keys).first { $0.place == place }?.place
    }

    /// Warns, once for each folder, that its values are left out.
    private func passOver(_ folder: String, _ error: StorageError) {
        guard passedOver.withLock({ $0.insert(folder).inserted }) else { return }
        log(.warning, "folders", "values in '\(folder)' are skipped: \(error.message)")
    }
}

extension LoadedStore {
    /// Passes the names that a namespace has, out of those that count, in order; with one page of them in memory.
    ///
    /// - Throws: As ``forEachName(in:prefix:after:limit:_:)``; what `body` throws.
    package func forEachName(
        _ names: ListedNames, inPagesOf place: StorageNamespace, _ body: (String) throws(StorageError) -> Void
    ) throws(StorageError) {
        switch names {
        case .all: try forEachName(inPagesOf: place, body)
        case .only(let names): for name in names where try hasValue(named: name, in: place) { try body(name) }
        }
    }

    /// Whether a namespace has a value, out of those that count.
    package func hasValue(in place: StorageNamespace, _ names: ListedNames) throws(StorageError) -> Bool {
        switch names {
        case .all:
            var isFound = false
            try forEachName(in: place, limit: 1) { _ in
                isFound = true
                return false
            }
            return isFound
        case .only(let names):
            for name in names where try hasValue(named: name, in: place) { return true }
            return false
        }
    }

    func hasValue(named name: String, in place: StorageNamespace) throws(StorageError) -> Bool {
        let handle = HeldHandle(self, try resolve(StorageAddress(place, name: name)))
        return try exists(handle.handle)
    }
}
