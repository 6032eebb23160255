import ByteCoding
import DurableFiles
import LocalDataPluginAPI

extension DatabaseConnection {
    // A statement for rows that cannot expire has no parameter for the time; binding it then has no effect.

    /// Names of a namespace, ascending by their bytes.
    func names(_ place: Int64, in range: DatabaseNameRange, limit: Int) throws -> [String] {
        var names: [String] = []
        try forEachRow(of: .names, place, in: range, limit: limit) { names.append($0.text(0) ?? "") }
        return names
    }

    /// The versions of a namespace's values, by their names.
    func versions(_ place: Int64, in range: DatabaseNameRange, limit: Int) throws -> [[UInt8]: Int64] {
        var versions: [[UInt8]: Int64] = [:]
        try forEachRow(of: .versions, place, in: range, limit: limit) { versions[Array($0.bytes(0))] = $0.number(1) }
        return versions
    }

    private func forEachRow(
        of query: Query, _ place: Int64, in range: DatabaseNameRange, limit: Int,
        _ body: (borrowing PreparedStatement) -> Void
    ) throws {
        try range.after.withUnsafeBytes { after in
            try range.end.withUnsafeBytes { end in
                let statement = try statement(query)
                statement.bind(1, place)
                statement.bind(2, text: after)
                statement.bind(3, text: end)
                statement.bind(4, Int64(limit))
                statement.bind(5, Moment.now)
                while try statement.step() { body(statement) }
            }
        }
    }

    /// Passes the values of a namespace, ascending by their names' bytes, until `body` returns `false`.
    ///
    /// - Parameter largest: The most bytes of a value; a larger one is passed as `nil`.
    func values(_ place: Int64, in range: DatabaseNameRange, largest: Int, _ body: BulkBackend.Taker) throws {
        try range.after.withUnsafeBytes { after in
            try range.end.withUnsafeBytes { end in
                let statement = try statement(.values)
                statement.bind(1, place)
                statement.bind(2, text: after)
                statement.bind(3, text: end)
                statement.bind(4, Moment.now)
                var attributes = ValueAttributes()
                var (contentType, serializer, versionTag) = (RepeatedText(), RepeatedText(), RepeatedText())
                var (appVersion, owner) = (RepeatedText(), RepeatedText())
                while try statement.step() {
                    let (name, mark) = (statement.bytes(0), UInt64(bitPattern: statement.number(2)))
                    let size = statement.number(3)
                    attributes.size = UInt64(max(0, size))
                    attributes.modified = statement.number(4)
                    if contentType.take(statement.bytes(5)) { attributes.contentType = contentType.text }
                    if serializer.take(statement.bytes(6)) { attributes.serializer = serializer.text }
                    if versionTag.take(statement.bytes(7)) { attributes.versionTag = versionTag.text }
                    if appVersion.take(statement.bytes(8)) { attributes.appVersion = appVersion.text }
                    if owner.take(statement.bytes(9)) { attributes.owner = owner.text }
                    attributes.expires = statement.numberIfThere(11)
                    let version = statement.number(2)
                    let checksum = RowChecksum.checksum(in: statement.numberIfThere(10), version: version)
                    // A corrupt value must not block the others; reading it by itself reports the damage.
                    var continues: Bool?
                    if size <= largest, statement.isNull(1) {
                        do {
                            try gather(version, size: size, checksum, name) {
                                continues = body(name.bytes, $0, attributes, mark)
                            }
                        } catch let error as StorageError where error.code == .corrupt && continues == nil {}
                    } else if size <= largest {
                        let content = statement.bytes(1)
                        if checksum == nil || Checksum(of: content).value == checksum {
                            continues = body(name.bytes, content.bytes, attributes, mark)
                        }
                    }
                    guard continues ?? body(name.bytes, nil, attributes, mark) else { return }
                }
            }
        }
    }

    /// Namespaces that hold a value, in the order of their numbers.
    func places(after number: Int64, limit: Int) throws -> [(number: Int64, place: StorageNamespace)] {
        let statement = try statement(.places)
        statement.bind(1, number)
        statement.bind(2, Int64(limit))
        statement.bind(3, Moment.now)
        var places: [(Int64, StorageNamespace)] = []
        while try statement.step() {
            let place = StorageNamespace(domain: statement.text(1) ?? "", scope: statement.text(2) ?? "")
            places.append((statement.number(0), place))
        }
        return places
    }
}

/// A value whose time is over, or was when it was recorded.
struct DueValue {
    let expires: Int64
    let place: Int64
    let name: [UInt8]
}

extension DatabaseConnection {
    /// Values whose time is over, of one namespace or all: those that were first. Some may be replaced or gone.
    func due(_ place: Int64?, limit: Int) throws -> [DueValue] {
        let statement = try statement(.due)
        statement.bind(1, Moment.now)
        statement.bind(2, place ?? 0)
        statement.bind(3, Int64(limit))
        var values: [DueValue] = []
        while try statement.step() {
            values.append(
                DueValue(expires: statement.number(0), place: statement.number(1), name: Array(statement.bytes(2))))
        }
        return values
    }

    /// Whether there is such a value; `false` for a database that has no values that expire.
    func isAnyDue(_ place: Int64?) throws -> Bool {
        if layout != .expiry { try findLayout() }
        return try layout == .expiry && !due(place, limit: 1).isEmpty
    }
}

/// Names that start with a prefix and sort after a name, by their bytes.
struct DatabaseNameRange {
    /// Only names greater than this.
    var after: [UInt8]
    /// Only names less than this.
    let end: [UInt8]

    init(prefix: String, after: String?) {
        let prefix = Array(prefix.utf8)
        end = Self.end(of: prefix)
        // The prefix itself may be a name, so the lower bound must sort before it.
        let start = Self.before(prefix)
        let after = Array((after ?? "").utf8)
        self.after = start.lexicographicallyPrecedes(after) ? after : start
    }

    /// The smallest bytes that sort after all names with the prefix. No name contains the byte 0xff.
    private static func end(of prefix: [UInt8]) -> [UInt8] {
        guard let last = prefix.last else { return [0xff] }
        return prefix.dropLast() + [last + 1]
    }

    /// Bytes that sort before the prefix and after all names that do: the last byte is decremented, and a byte that no
    /// name contains is appended.
    private static func before(_ prefix: [UInt8]) -> [UInt8] {
        guard let last = prefix.last else { return [] }
        return prefix.dropLast() + [last == 0 ? 0 : last - 1, 0xff]
    }
}
