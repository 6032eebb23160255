import CSQLite
import DurableFiles
import Glibc
import LocalDataAPI

/// A running change of a database: a connection with an exclusive write transaction.
final class Change {
    let connection: Connection
    /// Whether a replaced value may have pieces; queried once, since many databases have none.
    @exclusivity(unchecked)
    private var hasPieces: Bool
    private let time: Int64
    /// Whether this change has added checksums to a database of an earlier version.
    let hasAddedChecksums: Bool
    /// The rows of namespaces that were looked up or created, to be cached only once the change is committed.
    private var places: [ObjectIdentifier: (place: Place, number: Int64)] = [:]

    init(_ connection: Connection) throws {
        self.connection = connection
        hasAddedChecksums = try connection.addChecksums()
        hasPieces = try connection.statement(.somePiece).step()
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        time = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }

    /// Stores a value that is in memory.
    func set(_ key: some ValueName, to value: RawSpan, _ attributes: ValueAttributes?) throws {
        try value.withUnsafeBytes { bytes in
            guard !Piece.isInRow(key.name.count, bytes.count) else { return try setInRow(key, bytes, attributes) }
            try insert(key, Checksum(of: bytes), attributes) { put in
                for start in stride(from: 0, to: bytes.count, by: Piece.size) {
                    try put(
                        UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + Piece.size, bytes.count)]))
                }
            }
        }
    }

    /// Stores a value from memory if the key has no value; `false` if it has one.
    func add(_ key: some ValueName, _ value: RawSpan, _ attributes: ValueAttributes?) throws -> Bool {
        try value.withUnsafeBytes { bytes in
            // A value in pieces is rare, and checked for first.
            guard Piece.isInRow(key.name.count, bytes.count) else {
                guard try version(of: key) == nil else { return false }
                try set(key, to: bytes.bytes, attributes)
                return true
            }
            let place = try number(of: key.place) ?? make(key.place)
            try insertRow(.insertNew, place, key, newVersion(), Checksum(of: bytes), bytes, attributes)
            return hasChanged
        }
    }

    /// Stores as many values as one statement takes, where there are none.
    ///
    /// - Returns: The indices of those that already exist.
    func add(_ rows: [Insertions.Row], in place: Place, _ attributes: ValueAttributes?) throws -> [Int] {
        let number = try number(of: place) ?? make(place)
        let versions = rows.map { _ in newVersion() }
        try insertRows(.insertMany, number, rows, versions, attributes)
        guard sqlite3_changes(connection.handle) < rows.count else { return [] }
        return try rows.indices.filter { try connection.version(number, rows[$0].name) != versions[$0] }.map {
            rows[$0].index
        }
    }

    /// Whether ``set(_:in:_:)`` can store values: no replaced value has pieces.
    var replacesRows: Bool { !hasPieces }

    /// Stores as many values as one statement takes, replacing existing ones.
    func set(_ rows: [Insertions.Row], in place: Place, _ attributes: ValueAttributes?) throws {
        let number = try number(of: place) ?? make(place)
        try insertRows(.replaceMany, number, rows, rows.map { _ in newVersion() }, attributes)
    }

    private func insertRows(
        _ query: Query, _ place: Int64, _ rows: [Insertions.Row], _ versions: [Int64], _ attributes: ValueAttributes?
    ) throws {
        let statement = try connection.statement(query)
        statement.bind(1, place)
        statement.bind(2, time)
        for index in rows.indices {
            let first = Int32(8 + 5 * index)
            statement.bind(first, text: rows[index].name)
            statement.bind(first + 1, versions[index])
            statement.bind(first + 2, Int64(rows[index].value.count))
            statement.bind(first + 3, bytes: rows[index].value)
            let checksum = Checksum(of: rows[index].value)
            statement.bind(first + 4, RowChecksum.number(checksum, version: versions[index]))
        }
        try Self.lend(attributes ?? ValueAttributes()) { contentType, serializer, versionTag, appVersion, owner in
            if let contentType { statement.bind(3, text: contentType) }
            if let serializer { statement.bind(4, text: serializer) }
            if let versionTag { statement.bind(5, text: versionTag) }
            if let appVersion { statement.bind(6, text: appVersion) }
            if let owner { statement.bind(7, text: owner) }
            try statement.run()
        }
    }

    /// Stores a value in its row.
    private func setInRow(_ key: some ValueName, _ content: UnsafeRawBufferPointer, _ attributes: ValueAttributes?)
        throws
    {
        let place = try number(of: key.place) ?? make(key.place)
        let (version, checksum) = (newVersion(), Checksum(of: content))
        if hasPieces {
            try insertRow(.replaceRow, place, key, version, checksum, content, attributes)
            guard !hasChanged else { return }
            try removePieces(place, key)
        }
        try insertRow(.insert, place, key, version, checksum, content, attributes)
    }

    private func newVersion() -> Int64 {
        var version: Int64 = 0
        // 0 means that there is no value.
        while version == 0 { sqlite3_randomness(8, &version) }
        return version
    }

    /// Whether the last statement changed a row.
    private var hasChanged: Bool { sqlite3_changes(connection.handle) > 0 }

    /// Stores a value with a checksum and the pieces that `fill` writes.
    func insert(
        _ key: some ValueName, _ checksum: Checksum, _ attributes: ValueAttributes?,
        _ fill: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws {
        let place = try number(of: key.place) ?? make(key.place)
        try removePieces(place, key)
        let version = newVersion()
        try insertRow(.insert, place, key, version, checksum, nil, attributes)
        var number: Int64 = 0
        try fill { bytes in
            let statement = try connection.statement(.insertPiece)
            statement.bind(1, version)
            statement.bind(2, number)
            statement.bind(3, bytes: bytes)
            try statement.run()
            number += 1
            hasPieces = true
        }
    }

    private func insertRow(
        _ query: Query, _ place: Int64, _ key: some ValueName, _ version: Int64,
        _ checksum: Checksum, _ content: UnsafeRawBufferPointer?, _ attributes: ValueAttributes?
    ) throws {
        let statement = try connection.statement(query)
        statement.bind(1, place)
        statement.bind(2, text: key.name)
        statement.bind(3, version)
        statement.bind(4, time)
        statement.bind(5, Int64(checksum.count))
        if let content { statement.bind(11, bytes: content) }
        statement.bind(12, RowChecksum.number(checksum, version: version))
        guard let attributes else { return try statement.run() }
        try Self.lend(attributes) { contentType, serializer, versionTag, appVersion, owner in
            if let contentType { statement.bind(6, text: contentType) }
            if let serializer { statement.bind(7, text: serializer) }
            if let versionTag { statement.bind(8, text: versionTag) }
            if let appVersion { statement.bind(9, text: appVersion) }
            if let owner { statement.bind(10, text: owner) }
            try statement.run()
        }
    }

    private typealias Text = UnsafeRawBufferPointer

    /// Lends the bytes of attributes for the duration of `body`: copying them would double the work.
    @inline(__always)
    private static func lend(
        _ attributes: ValueAttributes, _ body: (Text?, Text?, Text?, Text?, Text?) throws -> Void
    ) throws {
        try lend(attributes.contentType) { contentType in
            try lend(attributes.serializer) { serializer in
                try lend(attributes.versionTag) { versionTag in
                    try lend(attributes.appVersion) { appVersion in
                        try lend(attributes.owner) { try body(contentType, serializer, versionTag, appVersion, $0) }
                    }
                }
            }
        }
    }

    @inline(__always)
    private static func lend(_ text: String?, _ body: (Text?) throws -> Void) throws {
        guard var text else { return try body(nil) }
        try text.withUTF8 { try body(Text($0)) }
    }

    /// The mark of a value's last write; `nil` if there is no value.
    func version(of key: some ValueName) throws -> Int64? {
        guard let place = try number(of: key.place) else { return nil }
        return try connection.version(place, key.name)
    }

    /// Removes a value; `false` if there was none.
    func remove(_ key: some ValueName) throws -> Bool {
        guard let place = try number(of: key.place) else { return false }
        if hasPieces {
            try run(.removeRow, place, key)
            guard !hasChanged else { return true }
            try removePieces(place, key)
        }
        try run(.remove, place, key)
        return hasChanged
    }

    /// Removes a value if it has this mark; `false` if it has another one or does not exist.
    func remove(_ key: some ValueName, of version: Int64) throws -> Bool {
        guard let place = try number(of: key.place) else { return false }
        if hasPieces {
            try run(.removeRowVersion, place, key, version)
            guard !hasChanged else { return true }
            try removePieces(place, key)
        }
        try run(.removeVersion, place, key, version)
        return hasChanged
    }

    /// Removes all values of a namespace from one name to another, if `expects` returns `true` for the name and mark of
    /// each, and `isWhole` does at the end. Otherwise, or if one is in pieces, returns `false` and removes nothing.
    func removeRange(
        _ first: LentName, _ last: LentName, expects: (UnsafeRawBufferPointer, Int64) -> Bool, isWhole: () -> Bool
    ) throws -> Bool {
        guard let place = try number(of: first.place) else { return false }
        do {
            let marks = try connection.statement(.marks)
            Self.bind(marks, place, first, last)
            while try marks.step() {
                guard marks.number(2) == 0, expects(marks.bytes(0), marks.number(1)) else { return false }
            }
        }
        guard isWhole() else { return false }
        let removal = try connection.statement(.removeRange)
        Self.bind(removal, place, first, last)
        try removal.run()
        return true
    }

    private static func bind(_ statement: borrowing Statement, _ place: Int64, _ first: LentName, _ last: LentName) {
        statement.bind(1, place)
        statement.bind(2, text: first.name)
        statement.bind(3, text: last.name)
    }

    private func run(_ query: Query, _ place: Int64, _ key: some ValueName, _ version: Int64? = nil) throws {
        let statement = try connection.statement(query)
        statement.bind(1, place)
        statement.bind(2, text: key.name)
        if let version { statement.bind(3, version) }
        try statement.run()
    }

    /// Caches the namespaces' row numbers; called once the change is committed.
    func rememberPlaces() {
        for (place, number) in places.values { place.remember(number) }
    }

    /// The row number of a namespace; `nil` if it has no row.
    func number(of place: Place) throws -> Int64? {
        if let number = place.rememberedNumber { return number }
        if let known = places[ObjectIdentifier(place)] { return known.number }
        guard let number = try connection.place(place.namespace) else { return nil }
        places[ObjectIdentifier(place)] = (place, number)
        return number
    }

    private func make(_ place: Place) throws -> Int64 {
        let number = try connection.makePlace(place.namespace)
        places[ObjectIdentifier(place)] = (place, number)
        return number
    }

    private func removePieces(_ place: Int64, _ key: some ValueName) throws {
        if hasPieces { try run(.removePieces, place, key) }
    }
}
