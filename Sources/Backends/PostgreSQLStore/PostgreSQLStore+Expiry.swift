import LocalDataPluginAPI

/// Values expire by the server's clock, which is one for all who share it.
extension PostgreSQLStore: ExpiringBackend {
    func discard(_ key: PostgreSQLKey) throws {
        if pool.options.isFrozen { return }
        // May be repeated: it removes only what counts as absent.
        try pool.read("discarding '\(key.address)'") { link, deadline in
            guard let number = try pool.schema.number(of: key.place, adding: false, link, until: deadline) else {
                return
            }
            try link.exchange([StatementCall(.discard, [.short(number), .lent(key.name)])], until: deadline)
        }
    }

    func sweep(_ place: StorageNamespace?, limit: Int) throws -> Int {
        if pool.options.isFrozen { return 0 }
        return try pool.read("removing expired values") { link, deadline in
            var parameter = Parameter.null
            if let place {
                guard let number = try pool.schema.number(of: place, adding: false, link, until: deadline) else {
                    return 0
                }
                parameter = .short(number)
            }
            let call = StatementCall(.sweep, [parameter, .integer(Int64(limit))])
            return try link.exchange([call], until: deadline).first?.count ?? 0
        }
    }

    func forEachExpired(in place: StorageNamespace, _ body: (String) -> Bool) throws {
        var range = NameRange(prefix: "", after: nil)
        while try passNames(.expired, in: place, &range, limit: Self.page, body) {}
    }
}
