import LocalDataPluginAPI

extension PostgreSQLStore: StreamingBackend {
    /// Uses a connection and a transaction until the value has been passed.
    func read(_ key: PostgreSQLKey, _ body: (RawSpan) -> Bool) throws -> Bool {
        try pieces(of: key) { _, piece in body(piece.bytes) } != nil
    }

    /// A value of more than 1 MiB is sent as it arrives, in a transaction that stays open for as long as the source
    /// takes, and uses a connection.
    func write(
        _ key: PostgreSQLKey, attributes: ValueAttributes?, from source: ((RawSpan) throws -> Void) throws -> Void
    ) throws {
        try requireChangeable()
        let upload = Upload(key, attributes, self)
        do {
            try source { piece in
                try check(upload.count + piece.byteCount)
                try piece.withUnsafeBytes { try upload.append($0) }
            }
            try upload.finish()
        } catch {
            upload.cancel()
            throw error
        }
    }
}

extension PostgreSQLStore: VerifiableBackend {
    func verify(_ key: PostgreSQLKey) throws -> ValueState? {
        try pieces(of: key) { _, _ in true }.map { _ in .intact }
    }
}
