import LocalDataPluginAPI
import Synchronization

/// Keeps values in a SQLite database: many small values in one file.
///
/// A namespace is a row of the table `place`, a value one of the table `value`; ``Schema`` defines them. A namespace
/// with its own folder has its own database, `values.sqlite` in that folder. The first value creates the database
/// atomically; its mode is 0600, that of folders created for it 0700, and in a folder that a group shares 0660 and
/// 2770. A file that is not one of ours is refused and left as it is.
///
/// - **Durability.** The write-ahead log is synchronized before `set` returns (`synchronous=FULL`). If that fails, the
///   change is undone; if even that fails, the error is `timedOut`: the change may exist when the database is opened
///   next. With the option `synchronous` at `normal`, a power loss may undo the last changes, each `set` or batch as a
///   whole, and the store is not durable.
/// - **Waiting.** Reads wait for nobody, but the first one of a program, which opens the database, for a process that
///   restores it after another was killed during a change, or that closes it. Writers wait for each other: within a
///   process in the order of their arrival; between processes for up to a minute, and then they throw `busy`.
/// - **Closing.** The last program that ends merges the log into the database and removes it with its index; a killed
///   one leaves both to the next. So does one on a disk that is nearly full: the log has the reserve for removals.
/// - **Damage.** A value's row has a checksum, and reading a value whose bytes do not match it fails with `corrupt`;
///   see ``RowChecksum``. The log has SQLite's own checksums.
/// - **Full disks.** Some blocks are reserved for removals, so these work on a full disk and free pages for other
///   values; see ``Reserve`` and, while nobody has the database open, ``IdleReserve``.
/// - **Read-only media.** A database without a log can be read there; one with a log needs the log's index, too.
/// - **Erasing.** Replaced or removed data is overwritten with zeros where that costs no extra write
///   (`secure_delete=FAST`): within a page that is written anyway, not in pages that become free, and not in the log.
///   ``wipe(_:)`` rewrites all pages and empties the log.
final class SQLiteStore: StorageBackend {
    static let component = ComponentInfo(
        id: "sqlite", summary: "keeps values in a SQLite database, durably",
        options: [
            .path("path", default: "${data}/values.sqlite", help: "the database's file"),
            .string(
                "synchronous", default: "full", allowed: ["full", "normal"],
                help:
                    "whether every value survives a power loss once it is set (full), or the last ones may not (normal)"
            ),
            .integer("largestValue", default: Int64(most), help: "the largest value in bytes"),
            .boolean(
                "frozen", default: false,
                help: "whether the store changes nothing, and shows all values as of one moment; backups set it"),
        ])

    let properties: StoreProperties

    /// The database of all namespaces without their own folder.
    let main: Database
    private let databases = SharedTable<[UInt8], Database>()
    private let durability: Database.Durability
    private let largestValue: Int
    let isFrozen: Bool
    /// The databases of folders, which stay as they were found.
    private let frozen = Mutex<[Database]>([])
    /// SQLite's limit for one value.
    private static let most = 1_000_000_000

    /// Opens a store; creates nothing on the disk.
    ///
    /// - Throws: `invalidOptions` if the path is not absolute; `corrupt`, `storeUnavailable` or `unsupported` if the
    ///   file is damaged, not ours, or of a later version; `permissionDenied` if this is the superuser and it belongs
    ///   to another user.
    init(options: ComponentOptions, host: HostServices) throws {
        let path = try options.string("path")
        guard path.utf8.first == UInt8(ascii: "/"), path.utf8.last != UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw StorageError(
                .invalidOptions, "option 'path' is '\(path)'; expected the absolute path of a file",
                hint: "start it with '/', '~/' or '${data}/'")
        }
        largestValue = Int(try options.integer("largestValue", in: 1...Int64(Self.most), unit: "bytes"))
        durability = try options.string("synchronous") == "normal" ? .normal : .full
        properties = StoreProperties(
            latency: .disk, isDurable: durability == .full, isShared: true, keepsFoldersApart: true,
            largestValue: UInt64(largestValue))
        isFrozen = options.contains("frozen") ? try options.boolean("frozen") : false
        main = Database(path: path, durability: durability, isFrozen: isFrozen, isFolderPrivate: true)
        if let owner = try main.file.foreignOwner() {
            throw StorageError(
                .permissionDenied,
                "the folder of the database '\(path)' belongs to user \(owner), and this process runs as root",
                hint: "run it as user \(owner), or set HOME or the option 'path' to root's own folder")
        }
        try main.prepare()
    }

    func resolve(_ address: StorageAddress) throws -> SQLiteKey {
        guard !address.name.isEmpty else {
            throw StorageError(.invalidAddress, "the name in '\(address.place)/' is empty", hint: "give the key a name")
        }
        return SQLiteKey(place: try place(address.place), name: address.name)
    }

    func get(_ key: SQLiteKey, _ deliver: (RawSpan) -> Void) throws -> Bool {
        try key.read { connection, place in try connection.value(place, key.name, deliver) } ?? false
    }

    func exists(_ key: SQLiteKey) throws -> Bool {
        guard let found = try key.read({ connection, place in try connection.found(place, key.name) }) ?? nil else {
            return false
        }
        if found.isExpired { throw ValueExpired() }
        return true
    }

    func set(_ key: SQLiteKey, to value: RawSpan, attributes: ValueAttributes?) throws {
        try check(value.byteCount)
        _ = try key.database.write(adding: value.byteCount) { try $0.set(key, to: value, attributes) }
        key.database.changes.tell(key)
    }

    func remove(_ key: SQLiteKey) throws -> Bool {
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

    /// The namespace, shared by all its keys.
    func place(_ namespace: StorageNamespace) throws -> DatabasePlace { try database(of: namespace).place(namespace) }

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
        return databases.value(Array(path.utf8)) {
            let database = Database(path: path, durability: durability, isFrozen: isFrozen)
            if isFrozen { frozen.withLock { $0.append(database) } }
            return database
        }
    }
}

extension SQLiteStore: AttributedBackend {
    func attributes(of key: SQLiteKey) throws -> ValueAttributes? {
        try key.read { connection, place in try connection.attributes(place, key.name) } ?? nil
    }
}

extension SQLiteStore: ConditionalBackend {
    func get(_ key: SQLiteKey, _ deliver: (UInt64, ValueAttributes, RawSpan) -> Void) throws -> Bool {
        try key.read { connection, place in
            try connection.described(place, key.name) { deliver(UInt64(bitPattern: $0), $1, $2) }
        } ?? false
    }

    func set(
        _ key: SQLiteKey, to value: RawSpan, attributes: ValueAttributes?, if condition: WriteCondition
    ) throws -> UInt64? {
        try check(value.byteCount)
        let version = try key.database.write(adding: value.byteCount) {
            try $0.set(key, to: value, attributes, if: condition)
        }
        guard let version else { return nil }
        key.database.changes.tell(key)
        return UInt64(bitPattern: version)
    }

    func remove(_ key: SQLiteKey, ifRevision revision: UInt64) throws -> Bool {
        guard try key.database.exists() else { return false }
        let isRemoved = try key.database.write(adding: nil) { try $0.remove(key, of: Int64(bitPattern: revision)) }
        if isRemoved { key.database.changes.tell(key) }
        return isRemoved
    }
}

extension SQLiteStore: ExpiringBackend {
    func discard(_ key: SQLiteKey) throws {
        guard !isFrozen, try key.database.exists() else { return }
        if try key.database.write(adding: nil, { try $0.discard(key) }) { key.database.changes.tell(key) }
    }

    func sweep(_ place: StorageNamespace?, limit: Int) throws -> Int {
        if isFrozen { return 0 }
        let place = try place.map { try self.place($0) }
        let database = place?.database ?? main
        let due =
            try database.read { connection -> Int64? in
                let number = try place?.number(connection)
                guard place == nil || number != nil else { return nil }
                return try connection.isAnyDue(number) ? number ?? 0 : nil
            } ?? nil
        guard let due else { return 0 }
        let removed = try database.write(adding: nil) { try $0.sweep(due == 0 ? nil : due, limit: limit) }
        if removed > 0 { database.changes.tellDifferences() }
        return removed
    }

    func forEachExpired(in place: StorageNamespace, _ body: (String) -> Bool) throws {
        let place = try self.place(place)
        let names = try place.database.read { connection -> Set<[UInt8]> in
            guard let number = try place.number(connection), try connection.isAnyDue(number) else { return [] }
            let due = Set(try connection.due(number, limit: .max).map(\.name))
            return try due.filter { name in
                try name.withUnsafeBytes { try connection.found(number, $0)?.isExpired ?? false }
            }
        }
        for name in names ?? [] where !body(String(decoding: name, as: UTF8.self)) { return }
    }
}

/// Checks the database of the namespaces without a folder: its trees, as SQLite's `integrity_check` does, and the
/// checksum of each value.
extension SQLiteStore: CheckableBackend {
    func check(_ report: (String) -> Bool) throws { _ = try main.read { try $0.check(report) } }
}

extension SQLiteStore: VerifiableBackend {
    func verify(_ key: SQLiteKey) throws -> ValueState? {
        try key.read { connection, place in try connection.pieces(place, key.name) { _ in true } } ?? nil
    }
}

extension SQLiteStore: WipingBackend {
    func wipe(_ place: StorageNamespace) throws { try database(of: place).wipe() }
}

extension SQLiteStore: EnumerableBackend {
    func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
    ) throws {
        let place = try self.place(place)
        var range = DatabaseNameRange(prefix: prefix, after: after)
        var rest = limit ?? .max
        // In pages, so that no reader blocks the log's restart while the caller works.
        while rest > 0 {
            let wanted = min(rest, Self.page)
            let names = try place.database.read { connection in
                guard let number = try place.number(connection) else { return [String]() }
                return try connection.names(number, in: range, limit: wanted)
            }
            guard let names else { return }
            for name in names where !body(name) { return }
            guard names.count == wanted, let last = names.last else { return }
            range.after = Array(last.utf8)
            rest -= names.count
        }
    }

    func forEachPlace(_ body: (StorageNamespace) -> Bool) throws {
        var last: Int64 = 0
        while true {
            let page = try main.read { try $0.places(after: last, limit: Self.page) } ?? []
            for (_, place) in page where !body(place) { return }
            guard page.count == Self.page, let end = page.last else { return }
            last = end.number
        }
    }

    /// The most names in memory at once: at most half a MiB.
    private static let page = 512
}

extension SQLiteStore: StreamingBackend {
    /// During the read the log cannot restart, and grows with what others write.
    func read(_ key: SQLiteKey, _ body: (RawSpan) -> Bool) throws -> Bool {
        try key.read { connection, place in try connection.pieces(place, key.name, body) != nil } ?? false
    }

    /// A value of more than one piece is first collected in an unnamed file beside the database, so that others can
    /// write for as long as the source takes.
    func write(
        _ key: SQLiteKey, attributes: ValueAttributes?, from source: ((RawSpan) throws -> Void) throws -> Void
    ) throws {
        let spool = Spool(for: key.database.file)
        try source { piece in
            try check(spool.count + piece.byteCount)
            try spool.append(piece)
        }
        try spool.finish()
        _ = try key.database.write(adding: spool.count) { connection in
            if let content = spool.content {
                return try connection.set(key, to: content.bytes, attributes)
            }
            return try connection.insert(key, spool.checksum, attributes) { put in
                try spool.forEachPiece(put)
            }
        }
        key.database.changes.tell(key)
    }
}

/// This process's changes are reported at once, with their names. Other processes' changes are reported within about a
/// second, as "anything may have changed".
extension SQLiteStore: WatchableBackend {
    func watch(
        _ place: StorageNamespace, prefix: String, changed: @escaping @Sendable (String?) -> Void
    ) throws -> DatabaseWatch {
        let place = try self.place(place)
        let watch = DatabaseWatch(place: place, prefix: prefix, changed)
        try place.database.changes.add(watch, of: place.database)
        return watch
    }

    func unwatch(_ watch: DatabaseWatch) {
        watch.place.database.changes.remove(watch)
        watch.end()
    }
}

/// Objects in use, shared by name. An object is removed with its last user.
final class SharedTable<Name: Hashable & Sendable, Value: AnyObject & Sendable>: Sendable {
    private struct Entry {
        weak var value: Value?
    }

    private struct State {
        var entries: [Name: Entry] = [:]
        var sweepAt = 64
    }

    private let state = Mutex(State())

    /// The object with a name, created if nobody uses it yet.
    func value(_ name: Name, _ make: () -> Value) -> Value {
        state.withLock { state in
            if let kept = state.entries[name]?.value { return kept }
            if state.entries.count >= state.sweepAt {
                state.entries = state.entries.filter { $0.value.value != nil }
                state.sweepAt = max(64, 2 * state.entries.count)
            }
            let new = make()
            state.entries[name] = Entry(value: new)
            return new
        }
    }
}
