package import LocalDataAPI

extension SQLiteStore: StreamingBackend {
    /// During the read the log cannot restart, and grows with what others write.
    package func read(_ key: SQLiteKey, _ body: (RawSpan) -> Bool) throws -> Bool {
        try key.read { connection, place in try connection.pieces(place, key.name, body) != nil } ?? false
    }

    /// A value of more than one piece is first collected in an unnamed file beside the database, so that others can
    /// write for as long as the source takes.
    package func write(
        _ key: SQLiteKey, attributes: ValueAttributes?, from source: ((RawSpan) throws -> Void) throws -> Void
    ) throws {
        let spool = Spool(beside: key.database.path)
        try source { piece in
            try check(spool.count + piece.byteCount)
            try spool.append(piece)
        }
        try spool.finish()
        try key.database.write(adding: spool.count) { connection in
            if let content = spool.content {
                return try connection.set(key, to: content.bytes, attributes)
            }
            try connection.insert(key, spool.checksum, attributes) { put in
                try spool.forEachPiece(put)
            }
        }
        key.database.changes.tell(key)
    }
}
