import CSQLite
import LocalDataAPI

extension Connection {
    /// The number of a place; `nil` if it has no row.
    func place(_ namespace: StorageNamespace) throws -> Int64? {
        try withNames(of: namespace) { domain, scope in
            let statement = try statement(.findPlace)
            statement.bind(1, text: domain)
            statement.bind(2, text: scope)
            return try statement.step() ? statement.number(0) : nil
        }
    }

    /// Makes the row of a place that has none, and gives its number.
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
