import LocalDataPluginAPI

extension PostgreSQLStore: EnumerableBackend {
    func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
    ) throws {
        var range = NameRange(prefix: prefix, after: after)
        var rest = limit ?? .max
        while rest > 0 {
            let wanted = min(rest, Self.page)
            guard try passNames(.names, in: place, &range, limit: wanted, body) else { return }
            rest -= wanted
        }
    }

    /// Passes a page of the names that a statement finds, and leaves them out of the range.
    ///
    /// - Returns: Whether the page was full, and `body` wants the next one.
    func passNames(
        _ statement: StoreStatement, in place: StorageNamespace, _ range: inout NameRange, limit: Int,
        _ body: (String) -> Bool
    ) throws -> Bool {
        let rows = try pool.read("listing '\(place)'") { link, deadline -> ResultRows? in
            guard let number = try pool.schema.number(of: place, adding: false, link, until: deadline) else {
                return nil
            }
            let call = StatementCall(statement, [.short(number)] + range.parameters + [.integer(Int64(limit))])
            return try link.exchange([call], until: deadline).first
        }
        guard let rows else { return false }
        for row in 0..<rows.count where !body(String(decoding: rows.bytes(0, row: row), as: UTF8.self)) { return false }
        guard rows.count == limit else { return false }
        range.move(after: rows.bytes(0, row: limit - 1))
        return true
    }

    func forEachPlace(_ body: (StorageNamespace) -> Bool) throws {
        var last: Int32 = 0
        while true {
            let page = try pool.read("listing the namespaces") { link, deadline in
                let call = StatementCall(.places, [.short(last), .integer(Int64(Self.page))])
                return try link.exchange([call], until: deadline).first
            }
            guard let page else { return }
            for row in 0..<page.count {
                let place = StorageNamespace(domain: page.text(1, row: row) ?? "", scope: page.text(2, row: row) ?? "")
                guard body(place) else { return }
                last = Int32(truncatingIfNeeded: page.integer(0, row: row))
            }
            guard page.count == Self.page else { return }
        }
    }

    /// The most names in memory at once: at most half a MiB.
    static let page = 512
}
