import CSQLite
import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

/// The built plugin, opened through the boundary as by a host, with a database in a temporary folder.
struct BuiltStore: Sendable {
    static let file = "values.sqlite"
    let folder: TemporaryFolder
    let store: LoadedStore
    let place = StorageNamespace(domain: "userDefaults", scope: "tests")

    init(in folder: TemporaryFolder? = nil, _ options: [String: ComponentOption.Value] = [:]) throws {
        self.folder = try folder ?? TemporaryFolder()
        store = try PluginImage.load(BuiltProducts.plugin("SQLiteStore"))
            .openStore(
                "sqlite",
                options: options.merging(["path": .string("\(self.folder.path)/\(Self.file)")]) { given, _ in given },
                folder: "/nonexistent", log: SilentLog())
    }

    func handle(_ name: String, in place: StorageNamespace? = nil) throws -> StoreHandle {
        try store.resolve(StorageAddress(place ?? self.place, name: name))
    }

    func set(_ name: String, _ value: Data, in place: StorageNamespace? = nil) throws {
        let handle = try handle(name, in: place)
        defer { store.release(handle) }
        try store.set(handle, to: value, attributes: nil)
    }

    func get(_ name: String, in place: StorageNamespace? = nil) throws -> Data? {
        let handle = try handle(name, in: place)
        defer { store.release(handle) }
        return try store.get(handle)
    }

    func remove(_ name: String, in place: StorageNamespace? = nil) throws -> Bool {
        let handle = try handle(name, in: place)
        defer { store.release(handle) }
        return try store.remove(handle)
    }

    func names(
        in place: StorageNamespace? = nil, prefix: String = "", after: String? = nil, limit: Int? = nil
    ) throws -> [String] {
        var names: [String] = []
        try store.forEachName(in: place ?? self.place, prefix: prefix, after: after, limit: limit) {
            names.append($0)
            return true
        }
        return names
    }

    func findings() throws -> [String] {
        var findings: [String] = []
        try store.check {
            findings.append($0)
            return true
        }
        return findings
    }

    /// Runs statements in the store's database, as another program would.
    func run(_ statements: String) throws { try Self.run(statements, in: "\(folder.path)/\(Self.file)") }

    /// Runs statements in a database, and creates it if it is missing.
    static func run(_ statements: String, in path: String) throws {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        try #require(sqlite3_open(path, &connection) == SQLITE_OK)
        sqlite3_busy_timeout(connection, 10_000)
        let code = sqlite3_exec(connection, statements, nil, nil, nil)
        try #require(code == SQLITE_OK, "\(statements): \(String(cString: sqlite3_errmsg(connection)))")
    }
}

extension Data {
    /// Bytes that differ from those of another seed.
    init(seed: Int, count: Int) {
        self.init(SeededGenerator.bytes(count, seed: UInt64(seed)))
    }
}
