package import LocalDataAPI

extension SQLiteStore: EnumerableBackend {
    package func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
    ) throws {
        let place = try self.place(place)
        var range = NameRange(prefix: prefix, after: after)
        var rest = limit ?? .max
        // In pages, so that no reader blocks the log's restart while the caller works.
        while rest > 0 {
            let wanted = min(rest, Self.page)
            let names = try place.database.read { connection in
                guard let number = try place.number(connection) else { return [String]() }
                return try connection.names(number, in: range, limit: wanted)
            }
            guard let names else { return }
            for name in names where !body(name) { return }
            guard names.count == wanted, let last = names.last else { return }
            range.after = Array(last.utf8)
            rest -= names.count
        }
    }

    package func forEachPlace(_ body: (StorageNamespace) -> Bool) throws {
        var last: Int64 = 0
        while true {
            let page = try main.read { try $0.places(after: last, limit: Self.page) } ?? []
            for (_, place) in page where !body(place) { return }
            guard page.count == Self.page, let end = page.last else { return }
            last = end.number
        }
    }

    /// The most names in memory at once: at most half a MiB.
    private static let page = 512
}
