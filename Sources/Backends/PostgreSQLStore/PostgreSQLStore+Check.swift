internal import DurableFiles
internal import LocalDataPluginAPI

/// Compares each value with its checksum, and looks for pieces that belong to no value. The server's own structures are
/// the business of its tools, such as pg_amcheck.
extension PostgreSQLStore: CheckableBackend {
    func check(_ report: (String) -> Bool) throws {
        var continues = true
        var places: [StorageNamespace] = []
        try forEachPlace {
            places.append($0)
            return true
        }
        for place in places where continues {
            try forEachValue(in: place, prefix: "", after: nil, largest: ValuePieces.threshold) {
                name, value, attributes, _ in
                guard value == nil else { return true }
                let name = name.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
                continues = problem(StorageAddress(place, name: name), attributes).map(report) ?? true
                return continues
            }
        }
        guard continues else { return }
        let strays = try pool.read("checking the pieces") { link, deadline in
            try link.exchange([StatementCall(.strayPieces)], until: deadline).first?.integer(0) ?? 0
        }
        if strays > 0 { _ = report("the pieces of \(strays) values belong to no value") }
    }

    /// What is wrong with a value that is large or corrupt.
    private func problem(_ address: StorageAddress, _ attributes: ValueAttributes?) -> String? {
        do {
            _ = try pieces(of: PostgreSQLKey(address)) { _, _ in true }
            return nil
        } catch is ValueExpired {
            return nil
        } catch { return "\(error)" }
    }
}
