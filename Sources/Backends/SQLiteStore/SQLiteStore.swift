package import LocalDataAPI

/// Keeps values in a SQLite database: many small values in one file.
///
/// A namespace is a row of the table `place`, a value one of the table `value`; ``Schema`` defines them. A namespace
/// with its own folder has its own database, `values.sqlite` in that folder. The first value creates the database
/// atomically; its mode is 0600, that of folders created for it 0700, and in a folder with the set-group-ID bit 0660
/// and 2770. A file that is not one of ours is refused and left as it is.
///
/// - **Durability.** The write-ahead log is synchronized before `set` returns (`synchronous=FULL`). If that fails, the
///   change is undone; if even that fails, the error is `timedOut`: the change may exist when the database is opened
///   next. With the option `synchronous` at `normal`, a power loss may undo the last changes, each `set` or batch as a
///   whole, and the store is not durable.
/// - **Waiting.** Reads wait for nobody. They throw `busy` while a process restores the database after another was
///   killed during a change. Writers wait for each other: within a process in the order of their arrival; between
///   processes for up to a minute, and then they throw `busy`.
/// - **Damage.** A value's row has a checksum, and reading a value whose bytes do not match it fails with `corrupt`;
///   see ``RowChecksum``. The log has SQLite's own checksums.
/// - **Full disks.** Some blocks are reserved for removals, so these work on a full disk and free pages for other
///   values; see ``Reserve``.
/// - **Read-only media.** A database without a log can be read there; one with a log needs the log's index, too.
/// - **Erasing.** Replaced or removed data is overwritten with zeros where that costs no extra write
///   (`secure_delete=FAST`): within a page that is written anyway, not in pages that become free, and not in the log.
///   ``wipe(_:)`` rewrites all pages and empties the log.
package final class SQLiteStore: StorageBackend {
    package static let component = ComponentInfo(
        id: "sqlite", summary: "keeps values in a SQLite database, durably",
        options: [
            .path("path", default: "${data}/values.sqlite", help: "the database's file"),
            .string(
                "synchronous", default: "full", allowed: ["full", "normal"],
                help:
                    "whether every value survives a power loss once it is set (full), or the last ones may not (normal)"
            ),
            .integer("largestValue", default: Int64(most), help: "the largest value in bytes"),
        ])

    package let properties: StoreProperties

    /// The database of all namespaces without their own folder.
    let main: Database
    private let databases = SharedTable<[UInt8], Database>()
    private let durability: Database.Durability
    private let largestValue: Int
    /// SQLite's limit for one value.
    private static let most = 1_000_000_000

    /// Opens a store; creates nothing on the disk.
    ///
    /// - Throws: `invalidOptions` if the path is not absolute; `corrupt`, `storeUnavailable` or `unsupported` if the
    ///   file is damaged, not ours, or of a later version; `permissionDenied` if this is the superuser and it belongs
    ///   to another user.
    package init(options: ComponentOptions, host: HostServices) throws {
        let path = try options.string("path")
        guard path.utf8.first == UInt8(ascii: "/"), path.utf8.last != UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw StorageError(
                .invalidOptions, "option 'path' is '\(path)'; expected the absolute path of a file",
                hint: "start it with '/', '~/' or '${data}/'")
        }
        largestValue = try Self.largestValue(options)
        durability = try options.string("synchronous") == "normal" ? .normal : .full
        properties = StoreProperties(
            latency: .disk, isDurable: durability == .full, isShared: true, keepsFoldersApart: true,
            largestValue: UInt64(largestValue))
        main = Database(path: path, durability: durability)
        if let owner = try DatabaseFile(path).foreignOwner() {
            throw StorageError(
                .permissionDenied,
                "the folder of the database '\(path)' belongs to user \(owner), and this process runs as root",
                hint: "run it as user \(owner), or set HOME or the option 'path' to root's own folder")
        }
        try main.prepare()
    }

    package func resolve(_ address: StorageAddress) throws -> SQLiteKey {
        guard !address.name.isEmpty else {
            throw StorageError(.invalidAddress, "the name in '\(address.place)/' is empty", hint: "give the key a name")
        }
        return SQLiteKey(place: try place(address.place), name: address.name)
    }

    package func get(_ key: SQLiteKey, _ deliver: (RawSpan) -> Void) throws -> Bool {
        try key.read { connection, place in try connection.value(place, key.name, deliver) } ?? false
    }

    package func exists(_ key: SQLiteKey) throws -> Bool {
        try key.read { connection, place in try connection.version(place, key.name) != nil } ?? false
    }

    package func set(_ key: SQLiteKey, to value: RawSpan, attributes: ValueAttributes?) throws {
        try check(value.byteCount)
        try key.database.write(adding: value.byteCount) { try $0.set(key, to: value, attributes) }
        key.database.changes.tell(key)
    }

    package func remove(_ key: SQLiteKey) throws -> Bool {
        guard try key.database.exists() else { return false }
        let isRemoved = try key.database.write(adding: nil) { try $0.remove(key) }
        if isRemoved { key.database.changes.tell(key) }
        return isRemoved
    }

    /// Refuses a value that is too large.
    func check(_ count: Int) throws {
        guard count > largestValue else { return }
        throw StorageError(
            .valueTooLarge, "the value has \(count) bytes; the database accepts at most \(largestValue)",
            hint: "map the domain to a store for large values")
    }

    private static func largestValue(_ options: ComponentOptions) throws -> Int {
        let value = try options.integer("largestValue")
        guard (1...Int64(most)).contains(value) else {
            throw StorageError(
                .invalidOptions, "option 'largestValue' is \(value); expected 1 to \(most)",
                hint: "give a number of bytes")
        }
        return Int(value)
    }

    /// The namespace, shared by all its keys.
    func place(_ namespace: StorageNamespace) throws -> Place { try database(of: namespace).place(namespace) }

    /// The database of a namespace, shared by all users. It is closed with the last one.
    func database(of place: StorageNamespace) throws -> Database {
        guard let folder = place.directory else { return main }
        guard folder.utf8.first == UInt8(ascii: "/"), !folder.utf8.contains(0) else {
            throw StorageError(
                .invalidAddress, "the folder of '\(place)' is '\(folder)'; expected an absolute path",
                hint: "start it with '/'")
        }
        let path = folder + (folder.hasSuffix("/") ? "" : "/") + "values.sqlite"
        if path.utf8.elementsEqual(main.path.utf8) { return main }
        return databases.value(Array(path.utf8)) { Database(path: path, durability: durability) }
    }
}
