import LocalDataPluginAPI

/// Consecutive new values of one namespace with the same attributes: one statement inserts several of them, at little
/// more than half the cost.
struct Insertions {
    /// A value to insert, whose bytes stay valid until all changes have been made.
    struct Row {
        let index: Int
        let name: UnsafeRawBufferPointer
        let value: UnsafeRawBufferPointer
    }

    private var rows: [Row] = []
    private var place = 0
    private var attributes: ValueAttributes?

    var isEmpty: Bool { rows.isEmpty }

    /// Adds a change if it can follow the others; `false` if not.
    mutating func add(_ index: Int, _ change: BulkChanges.Change, _ name: RawSpan, _ value: RawSpan?) -> Bool {
        guard let value, change.condition == .absent, rows.count < Query.rowsAtOnce else { return false }
        if rows.isEmpty {
            (place, attributes) = (change.place, change.attributes)
        } else if change.place != place || change.attributes != attributes {
            return false
        }
        let row = Row(index: index, name: name.withUnsafeBytes { $0 }, value: value.withUnsafeBytes { $0 })
        guard ValueRows.isInRow(row.name.count, row.value.count) else { return false }
        rows.append(row)
        return true
    }

    /// Stores the added values, and forgets them.
    ///
    /// - Returns: The indices of those that already exist.
    mutating func make(in places: [DatabasePlace], _ change: ChangeTransaction) throws -> [Int] {
        guard !rows.isEmpty else { return [] }
        defer { rows.removeAll(keepingCapacity: true) }
        let place = places[self.place]
        if rows.count == Query.rowsAtOnce { return try change.add(rows, in: place, attributes) }
        return try rows.filter { row in
            try !change.add(LentName(place: place, name: row.name), row.value.bytes, attributes)
        }.map(\.index)
    }
}
