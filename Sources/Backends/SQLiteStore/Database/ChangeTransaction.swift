import CSQLite
import DurableFiles
import Glibc
import LocalDataPluginAPI

/// A running change of a database: a connection with an exclusive write transaction.
final class ChangeTransaction {
    let connection: DatabaseConnection
    /// Whether a replaced value may have pieces; queried once, since many databases have none.
    @exclusivity(unchecked)
    private var hasPieces: Bool
    private let time = Moment.now
    /// Whether this change has added columns to a database of an earlier version.
    let hasUpgraded: Bool
    /// Whether values that expire may exist; queried once, since many databases have none.
    private let mayExpire: Bool
    /// The rows of namespaces that were looked up or created, to be cached only once the change is committed.
    private var places: [ObjectIdentifier: (place: DatabasePlace, number: Int64)] = [:]

    init(_ connection: DatabaseConnection) throws {
        self.connection = connection
        hasUpgraded = try connection.upgrade()
        hasPieces = try connection.statement(.somePiece).step()
        mayExpire = try connection.layout == .expiry && connection.statement(.mayExpire).step()
    }

    /// Stores a value that is in memory; returns its mark.
    @discardableResult
    func set(_ key: some ValueName, to value: RawSpan, _ attributes: ValueAttributes?) throws -> Int64 {
        try value.withUnsafeBytes { bytes in
            guard !ValueRows.isInRow(key.name.count, bytes.count) else { return try setInRow(key, bytes, attributes) }
            return try insert(key, Checksum(of: bytes), attributes) { put in
                for start in stride(from: 0, to: bytes.count, by: ValueRows.size) {
                    try put(
                        UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + ValueRows.size, bytes.count)]))
                }
            }
        }
    }

    /// Stores a value from memory if the key has no value; `false` if it has one.
    func add(_ key: some ValueName, _ value: RawSpan, _ attributes: ValueAttributes?) throws -> Bool {
        try addNew(key, value, attributes) != nil
    }

    /// The same; returns the value's mark, `nil` if the key has a value.
    func addNew(_ key: some ValueName, _ value: RawSpan, _ attributes: ValueAttributes?) throws -> Int64? {
        if mayExpire { try discard(key) }
        return try value.withUnsafeBytes { bytes in
            // A value in pieces is rare, and checked for first.
            guard ValueRows.isInRow(key.name.count, bytes.count) else {
                return try version(of: key) == nil ? set(key, to: bytes.bytes, attributes) : nil
            }
            let (place, version) = (try number(of: key.place) ?? make(key.place), newVersion())
            try insertRow(.insertNew, place, key, version, Checksum(of: bytes), bytes, attributes)
            return hasChanged ? version : nil
        }
    }

    /// Stores a value if the stored one fulfils a condition; returns its mark, `nil` if it does not.
    func set(
        _ key: some ValueName, to value: RawSpan, _ attributes: ValueAttributes?, if condition: WriteCondition
    ) throws -> Int64? {
        switch condition {
        case .anything: return try set(key, to: value, attributes)
        case .absent: return try addNew(key, value, attributes)
        case .revision(let revision):
            guard try version(of: key) == Int64(bitPattern: revision) else { return nil }
            return try set(key, to: value, attributes)
        }
    }

    /// Stores as many values as one statement takes, where there are none.
    ///
    /// - Returns: The indices of those that already exist.
    func add(_ rows: [Insertions.Row], in place: DatabasePlace, _ attributes: ValueAttributes?) throws -> [Int] {
        let number = try number(of: place) ?? make(place)
        if mayExpire { for row in rows { try discard(LentName(place: place, name: row.name)) } }
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
    func set(_ rows: [Insertions.Row], in place: DatabasePlace, _ attributes: ValueAttributes?) throws {
        let number = try number(of: place) ?? make(place)
        try insertRows(.replaceMany, number, rows, rows.map { _ in newVersion() }, attributes)
    }

    private func insertRows(
        _ query: Query, _ place: Int64, _ rows: [Insertions.Row], _ versions: [Int64], _ attributes: ValueAttributes?
    ) throws {
        if let expires = attributes?.expires {
            try rows.forEach { try noteExpiry(place, $0.name, expires) }
        }
        let statement = try connection.statement(query)
        statement.bind(1, place)
        statement.bind(2, time)
        if let expires = attributes?.expires { statement.bind(Int32(Query.expiryOfMany), expires) }
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
    private func setInRow(
        _ key: some ValueName, _ content: UnsafeRawBufferPointer, _ attributes: ValueAttributes?
    ) throws -> Int64 {
        let place = try number(of: key.place) ?? make(key.place)
        let (version, checksum) = (newVersion(), Checksum(of: content))
        if hasPieces {
            try insertRow(.replaceRow, place, key, version, checksum, content, attributes)
            guard !hasChanged else { return version }
            try removePieces(place, key)
        }
        try insertRow(.insert, place, key, version, checksum, content, attributes)
        return version
    }

    private func newVersion() -> Int64 {
        var version: Int64 = 0
        // 0 means that there is no value.
        while version == 0 { sqlite3_randomness(8, &version) }
        return version
    }

    /// Whether the last statement changed a row.
    private var hasChanged: Bool { sqlite3_changes(connection.handle) > 0 }

    /// Stores a value with a checksum and the pieces that `fill` writes; returns its mark.
    @discardableResult
    func insert(
        _ key: some ValueName, _ checksum: Checksum, _ attributes: ValueAttributes?,
        _ fill: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> Int64 {
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
        return version
    }

    private func insertRow(
        _ query: Query, _ place: Int64, _ key: some ValueName, _ version: Int64,
        _ checksum: Checksum, _ content: UnsafeRawBufferPointer?, _ attributes: ValueAttributes?
    ) throws {
        if let expires = attributes?.expires { try noteExpiry(place, key.name, expires) }
        let statement = try connection.statement(query)
        statement.bind(1, place)
        statement.bind(2, text: key.name)
        statement.bind(3, version)
        statement.bind(4, time)
        statement.bind(5, Int64(checksum.count))
        if let content { statement.bind(11, bytes: content) }
        statement.bind(12, RowChecksum.number(checksum, version: version))
        guard let attributes else { return try statement.run() }
        if let expires = attributes.expires { statement.bind(13, expires) }
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
        if mayExpire, try discard(key) { return false }
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
        if mayExpire, try discard(key) { return false }
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
        guard !mayExpire, let place = try number(of: first.place) else { return false }
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

    private static func bind(
        _ statement: borrowing PreparedStatement, _ place: Int64, _ first: LentName, _ last: LentName
    ) {
        statement.bind(1, place)
        statement.bind(2, text: first.name)
        statement.bind(3, text: last.name)
    }

    private func run(_ query: Query, _ place: Int64, _ key: some ValueName, _ version: Int64? = nil) throws {
        try run(query, place, key.name, version)
    }

    /// Runs a statement whose parameters are a namespace, a name and a number.
    private func run(
        _ query: Query, _ place: Int64, _ name: UnsafeRawBufferPointer, _ number: Int64?
    ) throws {
        let statement = try connection.statement(query)
        statement.bind(1, place)
        statement.bind(2, text: name)
        if let number { statement.bind(3, number) }
        try statement.run()
    }

    /// Caches the namespaces' row numbers; called once the change is committed.
    func rememberPlaces() {
        for (place, number) in places.values { place.remember(number) }
    }

    /// The row number of a namespace; `nil` if it has no row.
    func number(of place: DatabasePlace) throws -> Int64? {
        if let number = place.rememberedNumber { return number }
        if let known = places[ObjectIdentifier(place)] { return known.number }
        guard let number = try connection.place(place.namespace) else { return nil }
        places[ObjectIdentifier(place)] = (place, number)
        return number
    }

    private func make(_ place: DatabasePlace) throws -> Int64 {
        let number = try connection.makePlace(place.namespace)
        places[ObjectIdentifier(place)] = (place, number)
        return number
    }

    private func removePieces(_ place: Int64, _ key: some ValueName) throws {
        if hasPieces { try run(.removePieces, place, key) }
    }
}

/// Values that expire.
extension ChangeTransaction {
    /// Records when a value expires, so that a sweep finds it.
    private func noteExpiry(_ place: Int64, _ name: UnsafeRawBufferPointer, _ expires: Int64) throws {
        guard connection.layout == .expiry else {
            throw StorageError(
                .unsupported, "the database '\(connection.path)' cannot be given a column for when values expire",
                hint: "check it for damage: ld-host doctor --scrub")
        }
        try run(.addDue, place, name, expires)
    }

    /// Removes a value if it has expired; `false` if not.
    @discardableResult
    func discard(_ key: some ValueName) throws -> Bool {
        guard let place = try number(of: key.place), try connection.found(place, key.name)?.isExpired ?? false else {
            return false
        }
        try removeAny(place, key.name)
        return true
    }

    /// Removes values that have expired, of one namespace or all.
    ///
    /// - Returns: The number of values, at most `limit`.
    func sweep(_ place: Int64?, limit: Int) throws -> Int {
        guard mayExpire else { return 0 }
        var removed = 0
        while removed < limit {
            let due = try connection.due(place, limit: min(limit - removed, 512))
            for entry in due {
                try entry.name.withUnsafeBytes { name in
                    if try connection.found(entry.place, name)?.isExpired ?? false {
                        try removeAny(entry.place, name)
                        removed += 1
                    }
                    try run(.removeDue, entry.place, name, entry.expires)
                }
            }
            if due.isEmpty { break }
        }
        return removed
    }

    private func removeAny(_ place: Int64, _ name: UnsafeRawBufferPointer) throws {
        if hasPieces { try run(.removePieces, place, name, nil) }
        try run(.remove, place, name, nil)
    }
}
