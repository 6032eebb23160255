import LocalDataAPI

/// Values that follow each other, of one place and with the same attributes, where none is yet: some of them are one
/// statement, which costs little more than half.
struct Insertions {
    /// A value on its way, whose bytes stay where they are until all changes have been made.
    struct Row {
        let index: Int
        let name: UnsafeRawBufferPointer
        let value: UnsafeRawBufferPointer
    }

    private var rows: [Row] = []
    private var place = 0
    private var attributes: ValueAttributes?

    var isEmpty: Bool { rows.isEmpty }

    /// Adds a change, if it is one that may follow; `false` if not.
    mutating func add(_ index: Int, _ change: BulkChanges.Change, _ name: RawSpan, _ value: RawSpan?) -> Bool {
        guard let value, change.expectation == .absence, rows.count < Query.rowsAtOnce else { return false }
        if rows.isEmpty {
            (place, attributes) = (change.place, change.attributes)
        } else if change.place != place || change.attributes != attributes {
            return false
        }
        let row = Row(index: index, name: name.withUnsafeBytes { $0 }, value: value.withUnsafeBytes { $0 })
        guard Piece.isInRow(row.name.count, row.value.count) else { return false }
        rows.append(row)
        return true
    }

    /// Stores the values that were added, and forgets them.
    ///
    /// - Returns: The indices of those where there is a value.
    mutating func make(in places: [Place], _ change: Change) throws -> [Int] {
        guard !rows.isEmpty else { return [] }
        defer { rows.removeAll(keepingCapacity: true) }
        let place = places[self.place]
        if rows.count == Query.rowsAtOnce { return try change.add(rows, in: place, attributes) }
        return try rows.filter { row in
            try !change.add(LentName(place: place, name: row.name), row.value.bytes, attributes)
        }.map(\.index)
    }
}
