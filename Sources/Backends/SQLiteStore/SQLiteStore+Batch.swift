internal import FoundationEssentials
internal import Glibc
internal import LocalDataPluginAPI

extension SQLiteStore: BatchBackend {
    func apply(_ changes: [StorageChange<SQLiteKey>]) throws {
        guard let database = try commonDatabase(of: changes.lazy.map(\.key)) else { return }
        for index in changes.indices { try check(changes[index].value?.count ?? 0) }
        let stored = changes.lazy.compactMap { $0.value?.count }
        try database.write(adding: stored.isEmpty ? nil : stored.reduce(0, +)) { connection in
            var rest = changes[...]
            while !rest.isEmpty {
                let alike = connection.replacesRows ? Self.alike(rest) : rest.prefix(1)
                if alike.count == Query.rowsAtOnce {
                    var rows: [Insertions.Row] = []
                    try Self.replace(alike, &rows, connection)
                } else {
                    for change in alike { try Self.make(change, connection) }
                }
                rest = rest.dropFirst(alike.count)
            }
        }
        database.changes.tell(changes.lazy.map(\.key))
    }

    private static func make(_ change: StorageChange<SQLiteKey>, _ connection: ChangeTransaction) throws {
        if let value = change.value {
            _ = try value.withUnsafeBytes { try connection.set(change.key, to: $0.bytes, change.attributes) }
        } else {
            _ = try connection.remove(change.key)
        }
    }

    /// The first changes, at least one: as many similar ones as one statement makes.
    private static func alike(
        _ changes: ArraySlice<StorageChange<SQLiteKey>>
    ) -> ArraySlice<StorageChange<SQLiteKey>> {
        let end = min(changes.endIndex, changes.startIndex + Query.rowsAtOnce)
        var index = changes.startIndex
        while index < end, let value = changes[index].value,
            ValueRows.isInRow(changes[index].key.name.count, value.count),
            changes[index].key.place === changes[changes.startIndex].key.place,
            changes[index].attributes == changes[changes.startIndex].attributes
        {
            index += 1
        }
        return changes[..<max(index, changes.startIndex + 1)]
    }

    /// Stores values with one statement. Nested calls lend them, so that all are valid while the statement runs.
    private static func replace(
        _ changes: ArraySlice<StorageChange<SQLiteKey>>, _ rows: inout [Insertions.Row], _ connection: ChangeTransaction
    ) throws {
        let index = changes.startIndex + rows.count
        guard index < changes.endIndex, let value = changes[index].value else {
            return try connection.set(rows, in: changes[changes.startIndex].key.place, changes.first?.attributes)
        }
        try value.withUnsafeBytes { bytes in
            rows.append(Insertions.Row(index: index, name: changes[index].key.name, value: bytes))
            try replace(changes, &rows, connection)
        }
    }

    /// The database of all keys; `nil` if there are no keys.
    ///
    /// - Throws: `unsupported` if there are two: two files cannot change atomically.
    func commonDatabase(of keys: some Collection<SQLiteKey>) throws -> Database? {
        try commonDatabase(of: keys.lazy.map(\.place))
    }

    /// The database of all these namespaces.
    func commonDatabase(of places: some Collection<DatabasePlace>) throws -> Database? {
        guard let first = places.first?.database else { return nil }
        if let other = places.first(where: { $0.database !== first })?.database {
            throw StorageError(
                .unsupported, "the changes affect two databases, '\(first.path)' and '\(other.path)'",
                hint: "change the values of each folder separately")
        }
        return first
    }
}

extension SQLiteStore: BulkBackend {
    func forEachValue(
        in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: Taker
    ) throws {
        let place = try self.place(place)
        _ = try place.database.read { connection in
            guard let number = try place.number(connection) else { return }
            try connection.values(number, in: DatabaseNameRange(prefix: prefix, after: after), largest: largest, body)
        }
    }

    func apply(_ changes: BulkChanges) throws -> [Int] {
        let places = try changes.places.map { try place($0) }
        guard let database = try commonDatabase(of: places) else { return [] }
        var conflicts: [Int] = []
        do {
            var stored: Int?
            try changes.forEach { _, _, _, value in if let value { stored = (stored ?? 0) + value.byteCount } }
            try database.write(adding: stored) { connection in
                conflicts = []
                var (insertions, removals) = (Insertions(), Removals())
                func makeThose() throws {
                    conflicts += try insertions.make(in: places, connection)
                    conflicts += try removals.make(in: places, connection)
                }
                try changes.forEach { index, change, name, value in
                    try check(value?.byteCount ?? 0)
                    func waits() -> Bool {
                        removals.isEmpty && insertions.add(index, change, name, value)
                            || insertions.isEmpty && removals.add(index, change, name, isRemoval: value == nil)
                    }
                    if waits() { return }
                    try makeThose()
                    if waits() { return }
                    let isMade = try name.withUnsafeBytes {
                        try Self.make(change, LentName(place: places[change.place], name: $0), value, connection)
                    }
                    if !isMade { conflicts.append(index) }
                }
                try makeThose()
                guard conflicts.isEmpty else { throw Conflict() }
            }
        } catch is Conflict { return conflicts.sorted() }
        try database.changes.tellMany { tell in
            try changes.forEach { _, change, name, _ in
                name.withUnsafeBytes { tell(LentName(place: places[change.place], name: $0)) }
            }
        }
        return []
    }

    /// Rolls the changes back.
    private struct Conflict: Error {}

    /// Makes a change if its expectation holds; `false` if not.
    private static func make(
        _ change: BulkChanges.Change, _ name: LentName, _ value: RawSpan?, _ connection: ChangeTransaction
    ) throws -> Bool {
        switch (value, change.condition) {
        case (let value?, .absent): return try connection.add(name, value, change.attributes)
        case (let value?, .anything): try connection.set(name, to: value, change.attributes)
        case (let value?, .revision(let mark)):
            guard try connection.version(of: name) == Int64(bitPattern: mark) else { return false }
            try connection.set(name, to: value, change.attributes)
        case (nil, .absent): return try connection.version(of: name) == nil
        case (nil, .anything): _ = try connection.remove(name)
        case (nil, .revision(let mark)): return try connection.remove(name, of: Int64(bitPattern: mark))
        }
        return true
    }
}
