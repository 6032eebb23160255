import LocalDataAPI

extension Connection {
    /// Names of a place, ascending by their bytes.
    func names(_ place: Int64, in range: NameRange, limit: Int) throws -> [String] {
        try range.after.withUnsafeBytes { after in
            try range.end.withUnsafeBytes { end in
                let statement = try statement(.names)
                statement.bind(1, place)
                statement.bind(2, text: after)
                statement.bind(3, text: end)
                statement.bind(4, Int64(limit))
                var names: [String] = []
                while try statement.step() { names.append(statement.text(0) ?? "") }
                return names
            }
        }
    }

    /// Places that hold a value, in the order of their numbers.
    func places(after number: Int64, limit: Int) throws -> [(number: Int64, place: StorageNamespace)] {
        let statement = try statement(.places)
        statement.bind(1, number)
        statement.bind(2, Int64(limit))
        var places: [(Int64, StorageNamespace)] = []
        while try statement.step() {
            let place = StorageNamespace(domain: statement.text(1) ?? "", scope: statement.text(2) ?? "")
            places.append((statement.number(0), place))
        }
        return places
    }
}
