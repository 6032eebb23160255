package import LocalDataAPI

extension PostgreSQLStore: EnumerableBackend {
    package func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
    ) throws {
        var range = NameRange(prefix: prefix, after: after)
        var rest = limit ?? .max
        while rest > 0 {
            let wanted = min(rest, Self.page)
            let names = try names(.names, in: place, range, limit: wanted)
            for name in names where !body(name) { return }
            guard names.count == wanted, let last = names.last else { return }
            range.move(after: last.utf8)
            rest -= names.count
        }
    }

    /// A page of names that a statement finds.
    func names(_ statement: Statement, in place: StorageNamespace, _ range: NameRange, limit: Int) throws -> [String] {
        try pool.read("listing '\(place)'") { link, deadline in
            guard let number = try pool.schema.number(of: place, adding: false, link, until: deadline) else {
                return []
            }
            let call = Call(statement, [.short(number)] + range.parameters + [.integer(Int64(limit))])
            guard let rows = try link.exchange([call], until: deadline).first else { return [] }
            return (0..<rows.count).map { String(decoding: rows.bytes(0, row: $0), as: UTF8.self) }
        }
    }

    package func forEachPlace(_ body: (StorageNamespace) -> Bool) throws {
        var last: Int32 = 0
        while true {
            let page = try pool.read("listing the namespaces") { link, deadline in
                let call = Call(.places, [.short(last), .integer(Int64(Self.page))])
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
