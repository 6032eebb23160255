import LocalDataPluginAPI

/// Whether the file is a database of the store's.
extension DatabaseConnection {
    /// - Throws: `corrupt` for a file that is not a database; `storeUnavailable` for another application's;
    ///   `unsupported` for one of a later version.
    func requireOwn() throws {
        let application = try number(of: "application_id")
        if application != Schema.application, try number(of: "page_count") == 0 {
            throw StorageError(
                .corrupt, "'\(path)' is empty, so it is not a database",
                hint: "restore it from a backup, or remove it")
        }
        if application == 0, try number(of: "table_info(piece)") > 0 {
            throw StorageError(
                .storeUnavailable, "the database '\(path)' lost its marks, as one does that was made from a dump",
                hint: "all values are there; set the marks: sqlite3 '\(path)' 'PRAGMA application_id = "
                    + "\(Schema.application); PRAGMA user_version = \(Schema.version)'")
        }
        guard application == Schema.application else {
            throw StorageError(
                .storeUnavailable, "the database '\(path)' belongs to another application (id \(application))",
                hint: "choose another 'path'")
        }
        try requireKnownVersion()
        guard try text(of: "encoding") == "UTF-8" else {
            throw StorageError(
                .storeUnavailable, "the text of the database '\(path)' is UTF-16; expected UTF-8",
                hint: "dump it, and read the dump into a new database: its encoding is UTF-8")
        }
    }

    /// - Throws: `unsupported` for a later version; `corrupt` for one that does not exist.
    func requireKnownVersion() throws {
        let version = try number(of: "user_version")
        guard version <= Schema.version else {
            throw StorageError(
                .unsupported,
                "the database '\(path)' has the schema version \(version); this version knows up to \(Schema.version)",
                hint: "use the later version of LocalData that created it")
        }
        guard version >= 1 else {
            throw StorageError(
                .corrupt, "the database '\(path)' has the unknown schema version \(version)",
                hint: "restore it from a backup")
        }
    }
}
