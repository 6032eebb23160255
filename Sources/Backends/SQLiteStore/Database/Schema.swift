import CSQLite
import LocalDataPluginAPI

/// The tables of a database, and its identification.
enum Schema {
    /// `LDat` in the file's header: see `PRAGMA application_id`.
    static let application: Int64 = 0x4c44_6174
    /// The version of the tables' layout: see `PRAGMA user_version`. A database with a higher number is refused.
    static let version: Int64 = 1

    /// Domain and scope once per namespace; names ordered by their bytes, in one tree with the values. `version`
    /// changes with each write, and identifies the pieces of a value whose `content` is NULL. ``RowChecksum`` defines
    /// `checksum`; `expires` is when a value expires, if it does. Databases of earlier versions get these columns with
    /// the first change, and their rows have neither. `expiry` has a row for each value that expires, and rows of
    /// values that were replaced or removed, until their time is over. Times are nanoseconds since 1970.
    private static let tables = """
        CREATE TABLE place (
            id INTEGER PRIMARY KEY,
            domain TEXT NOT NULL,
            scope TEXT NOT NULL,
            UNIQUE (domain, scope)
        ) STRICT;
        CREATE TABLE value (
            place INTEGER NOT NULL REFERENCES place,
            name TEXT NOT NULL,
            version INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            size INTEGER NOT NULL,
            content_type TEXT,
            serializer TEXT,
            version_tag TEXT,
            app_version TEXT,
            owner TEXT,
            checksum INTEGER,
            expires INTEGER,
            content BLOB,
            PRIMARY KEY (place, name)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE piece (
            version INTEGER NOT NULL,
            number INTEGER NOT NULL,
            content BLOB NOT NULL,
            PRIMARY KEY (version, number)
        ) STRICT, WITHOUT ROWID;
        \(expiryTable);
        PRAGMA application_id = \(application);
        PRAGMA user_version = \(version);
        """

    private static let expiryTable = """
        CREATE TABLE IF NOT EXISTS expiry (
            expires INTEGER NOT NULL,
            place INTEGER NOT NULL,
            name TEXT NOT NULL,
            PRIMARY KEY (expires, place, name)
        ) STRICT, WITHOUT ROWID
        """

    /// The columns that the rows of later layouts have; and what adds those of one layout to the layout before.
    static let laterColumns = "SELECT name FROM pragma_table_info('value') WHERE name IN ('checksum', 'expires')"
    static func upgrade(to layout: Layout) -> String {
        switch layout {
        case .original: ""
        case .checksums: "ALTER TABLE value ADD COLUMN checksum INTEGER"
        case .expiry: "ALTER TABLE value ADD COLUMN expires INTEGER; \(expiryTable)"
        }
    }

    /// Calls `body` with the bytes of an empty database, created in memory.
    static func withEmptyDatabase(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let connection = try DatabaseConnection(memory: ())
        try connection.execute(tables)
        var count: sqlite3_int64 = 0
        guard let bytes = sqlite3_serialize(connection.handle, "main", &count, 0) else {
            throw StorageError(.unknown, "not enough memory for an empty database")
        }
        defer { sqlite3_free(bytes) }
        // The header's versions for writing and reading; 2 means that there is a write-ahead log: see the file format,
        // 1.3.3. A database in memory has none.
        (bytes[18], bytes[19]) = (2, 2)
        try body(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    }
}
