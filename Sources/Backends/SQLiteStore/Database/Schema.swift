import CSQLite
import LocalDataAPI

/// The tables of a database, and its identification.
enum Schema {
    /// `LDat` in the file's header: see `PRAGMA application_id`.
    static let application: Int64 = 0x4c44_6174
    /// The version of the tables' layout: see `PRAGMA user_version`. A database with a higher number is refused.
    static let version: Int64 = 1

    /// Domain and scope once per namespace; names ordered by their bytes, in one tree with the values. `version`
    /// changes with each write, and identifies the pieces of a value whose `content` is NULL. ``RowChecksum`` defines
    /// `checksum`; databases of earlier versions get the column with the first change, and their rows have none. Times
    /// are nanoseconds since 1970.
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
            content BLOB,
            PRIMARY KEY (place, name)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE piece (
            version INTEGER NOT NULL,
            number INTEGER NOT NULL,
            content BLOB NOT NULL,
            PRIMARY KEY (version, number)
        ) STRICT, WITHOUT ROWID;
        PRAGMA application_id = \(application);
        PRAGMA user_version = \(version);
        """

    /// Adds what earlier versions did not create.
    static let hasChecksums = "SELECT 1 FROM pragma_table_info('value') WHERE name = 'checksum'"
    static let addChecksums = "ALTER TABLE value ADD COLUMN checksum INTEGER"

    /// Calls `body` with the bytes of an empty database, created in memory.
    static func withEmptyDatabase(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let connection = try Connection(memory: ())
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
