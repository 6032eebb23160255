import CSQLite
import DurableFiles
import LocalDataAPI

extension Connection {
    /// The number of a namespace; `nil` if it has no row. A user's own folder may already have a row under another
    /// path.
    func place(_ namespace: StorageNamespace) throws -> Int64? {
        let found: Int64? = try withNames(of: namespace) { domain, scope in
            let statement = try statement(.findPlace)
            statement.bind(1, text: domain)
            statement.bind(2, text: scope)
            return try statement.step() ? statement.number(0) : nil
        }
        return try found ?? otherPath(of: namespace)
    }

    private func otherPath(of namespace: StorageNamespace) throws -> Int64? {
        guard namespace.directory != nil, namespace.scope.utf8.first == UInt8(ascii: "/") else { return nil }
        let rows = try withNames(of: namespace) { domain, _ in
            let statement = try statement(.folders)
            statement.bind(1, text: domain)
            var rows: [(number: Int64, path: String)] = []
            while try statement.step() { rows.append((statement.number(0), statement.text(1) ?? "")) }
            return rows
        }
        guard !rows.isEmpty else { return nil }
        let folder = PathIdentity(namespace.scope)
        return rows.first { PathIdentity($0.path) == folder }?.number
    }

    /// Creates the row of a namespace that has none, and returns its number.
    func makePlace(_ namespace: StorageNamespace) throws -> Int64 {
        try withNames(of: namespace) { domain, scope in
            let statement = try statement(.makePlace)
            statement.bind(1, text: domain)
            statement.bind(2, text: scope)
            try statement.run()
            return sqlite3_last_insert_rowid(handle)
        }
    }

    private func withNames<Result>(
        of namespace: StorageNamespace, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        try Array(namespace.domain.utf8).withUnsafeBytes { domain in
            try Array(namespace.scope.utf8).withUnsafeBytes { scope in try body(domain, scope) }
        }
    }
}
