package import LocalDataAPI

extension SQLiteStore: BulkBackend {
    package func forEachValue(
        in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: Taker
    ) throws {
        let place = try self.place(place)
        _ = try place.database.read { connection in
            guard let number = try place.number(connection) else { return }
            try connection.values(number, in: NameRange(prefix: prefix, after: after), largest: largest, body)
        }
    }

    package func apply(_ changes: BulkChanges) throws -> [Int] {
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
        _ change: BulkChanges.Change, _ name: LentName, _ value: RawSpan?, _ connection: Change
    ) throws -> Bool {
        switch (value, change.expectation) {
        case (let value?, .absence): return try connection.add(name, value, change.attributes)
        case (let value?, .anything): try connection.set(name, to: value, change.attributes)
        case (let value?, .mark(let mark)):
            guard try connection.version(of: name) == Int64(bitPattern: mark) else { return false }
            try connection.set(name, to: value, change.attributes)
        case (nil, .absence): return try connection.version(of: name) == nil
        case (nil, .anything): _ = try connection.remove(name)
        case (nil, .mark(let mark)): return try connection.remove(name, of: Int64(bitPattern: mark))
        }
        return true
    }
}
