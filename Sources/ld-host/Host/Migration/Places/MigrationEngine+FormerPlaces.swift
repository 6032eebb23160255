internal import LocalDataAPI
internal import Synchronization

/// Values of keys that have moved to another place without a migration that says so.
extension MigrationEngine {
    /// Remembers where a key's value is written, with its first write by this router.
    func note(_ resolved: ResolvedKey, _ descriptor: StorageKeyDescriptor) async {
        resolved.isNoted.store(true, ordering: .relaxed)
        // What is gone with the process is not missed by another.
        guard !resolved.open.isGoneWithProcess, !descriptor.owner.isEmpty else { return }
        await note([PlaceHistory.Entry(descriptor, at: resolved.address.place)])
    }

    /// Remembers where keys' values are written.
    func note(_ entries: [PlaceHistory.Entry]) async {
        guard !entries.isEmpty else { return }
        let (history, folders) = (history, settings.folders)
        _ = try? await onIOThread { () throws(StorageError) in history.add(entries, folders) }
    }

    /// Whether a key's value may be at another place. Reads the history if it has not been read.
    func mayBeElsewhere(_ owner: String, _ name: String) async throws(StorageError) -> Bool {
        guard !owner.isEmpty else { return false }
        if let isKnown = history.knows(owner, name) { return isKnown }
        let (history, folders) = (history, settings.folders)
        return try await onIOThread { () throws(StorageError) in !history.entries(of: owner, name, folders).isEmpty }
    }

    /// The migration that brings a key's value from the place where it was before the key's domain, standard directory
    /// or sub-directory was changed; `nil` if absent.
    ///
    /// A place counts if it has a value, and nothing shows that another key lives there: it has no other suite,
    /// service, group or folder, no key of a registered catalog is there, this router has not written there itself, and
    /// without catalogs the key has never been written where it is now.
    ///
    /// - Throws: `conflict` if two places have a value.
    func migrationFromFormerPlace(of key: AnyStorageKey) async throws -> AnyStorageMigration? {
        let descriptor = key.descriptor
        guard try await mayBeElsewhere(descriptor.owner, descriptor.name) else { return nil }
        let place = try key.place ?? snapshot.settings.place(of: descriptor.domain)
        let known = history.entries(of: descriptor.owner, descriptor.name, snapshot.settings.folders)
        let isCatalogued = snapshot.isCatalogued(StorageAddress(place, name: descriptor.name))
        guard isCatalogued || !known.contains(where: { $0.place.isSame(as: place) }) else { return nil }
        var sources: [AnyStorageKey] = []
        for entry in known where !entry.place.isSame(as: place) && entry.mayHaveHeld(descriptor, now: place) {
            if history.isCurrent(entry) { continue }
            let address = StorageAddress(entry.place, name: entry.name)
            guard !snapshot.isCatalogued(address), isCatalogued || entry.type == descriptor.valueType,
                !sources.contains(where: { $0.place?.isSame(as: entry.place) == true })
            else { continue }
            let source = AnyStorageKey(entry)
            if try await access.resolveUnlisted(KeyReference(source)).exists() { sources.append(source) }
        }
        guard let source = sources.first else { return nil }
        guard sources.count == 1 else {
            let list = sources.compactMap(\.place).map { "'\($0)/\(descriptor.name)'" }.joined(separator: " and ")
            throw MigrationError(
                .conflict,
                "'\(StorageAddress(place, name: descriptor.name))' has no value, and \(list) have one that may be its; "
                    + "remove all but one")
        }
        return AnyStorageMigration(FormerPlaceMigration(source: source, place: place, destination: key))
    }
}

/// A key that a catalog has, and whose value may be at either of two former places.
struct FormerPlaceConflict: Sendable {
    let destination: String
    let error: MigrationError

    /// The id in place of a missing migration's.
    var id: String { "moved to \(destination)" }
}

extension MigrationEngine {
    /// The migrations that bring the values of keys that catalogs have from where they were before the keys' places
    /// were changed, in the order of the keys' addresses.
    func formerPlaceMigrations() async throws -> (migrations: [AnyStorageMigration], conflicts: [FormerPlaceConflict]) {
        let keys = snapshot.described.entries.merging(snapshot.catalog?.entries ?? [:]) { $1 }
        var (migrations, conflicts): ([AnyStorageMigration], [FormerPlaceConflict]) = ([], [])
        for (address, key) in keys.sorted(by: { "\($0.key)" < "\($1.key)" }) {
            do {
                if let migration = try await migrationFromFormerPlace(of: key) { migrations.append(migration) }
            } catch let error as MigrationError {
                conflicts.append(FormerPlaceConflict(destination: "\(address)", error: error))
            }
        }
        return (migrations, conflicts)
    }
}

extension RouterSnapshot {
    /// Whether a catalog has a key of this address: one that is registered, or that the configuration names.
    fileprivate func isCatalogued(_ address: StorageAddress) -> Bool {
        catalog?.entries[address] != nil || described.entries[address] != nil
    }
}

extension AnyStorageKey {
    /// A key at a place of the history.
    init(_ entry: PlaceHistory.Entry) {
        self.init(
            StorageKeyDescriptor(
                name: entry.name, domain: .custom(name: entry.domain, scope: entry.scope), security: entry.security,
                serializer: entry.serializer, valueType: entry.type, owner: entry.owner, description: ""),
            at: entry.place)
    }
}

extension StorageNamespace {
    /// Whether it is the same place in the same folder.
    func isSame(as other: StorageNamespace) -> Bool { self == other && directory == other.directory }

    /// The suite, service, group, or own folder, of which each has its own values; empty for a standard directory.
    var named: Substring {
        switch domain {
        case _ where scope.hasPrefix("/"): scope[...]
        case "fileSystem", "encryptedFileSystem": ""
        case "appGroupFileSystem": scope.prefix { $0 != ":" }
        default: scope[...]
        }
    }
}

extension StorageDomain {
    /// Whether the configuration says which service or group it is.
    var usesDefault: Bool {
        switch self {
        case .keychain(nil), .appGroupUserDefaults(nil), .appGroupFileSystem(nil, _): true
        default: false
        }
    }
}

/// Brings a value from where it was before its key's domain, directory or sub-directory was changed.
struct FormerPlaceMigration: UntypedMigration {
    /// The prefix of the ids.
    static let prefix = "moved from "

    let source: AnyStorageKey
    /// Where the key is now.
    let place: StorageNamespace
    let destination: AnyStorageKey

    private var former: String { "\(source.place ?? place)/\(source.descriptor.name)" }

    /// Where the value comes from.
    var id: String { Self.prefix + former }
    var summary: String { "The key's place was changed from \(source.place ?? place) to \(place)." }
    var sources: [AnyStorageKey] { [source] }

    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        try await router.exists(source)
    }

    func migrate(
        using router: any StorageProviding, context: MigrationContext
    ) async throws -> MigrationResult {
        if let transaction = router as? any MovingTransaction, try await transaction.move(source, to: destination) {
            return MigrationResult(success: true, migratedCount: 1)
        }
        guard let data = try await router.data(for: source) else {
            throw MigrationError(.sourceDataNotFound, "'\(former)' is not stored")
        }
        try await router.setData(data, for: destination)
        try await router.remove(source)
        return MigrationResult(success: true, migratedCount: 1)
    }

    /// - Throws: `incompatibleTypes` if what was written was of another type or serializer; `validationFailed` if the
    ///   value would be less protected than it is.
    func validate() throws(MigrationError) {
        let (old, new) = (source.descriptor, destination.descriptor)
        guard old.valueType == new.valueType, old.serializer == new.serializer else {
            throw MigrationError(
                .incompatibleTypes,
                "'\(former)' was written as \(old.valueType) (\(old.serializer)), and the key is now \(new.valueType) "
                    + "(\(new.serializer)); declare a migration that transforms it")
        }
        try MigrationUtils.validateCompatibility(from: old, to: new)
    }
}
