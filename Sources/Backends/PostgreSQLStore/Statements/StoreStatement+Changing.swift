extension StoreStatement {
    private static let columns = """
        place, name, revision, modified, expires, size, checksum, content_type, serializer, version_tag, app_version,
        owner, content
        """
    private static let newRow = "$1, $2, $3, \(now), $4, $5, $6, $7, $8, $9, $10, $11, $12"
    private static let assignments = """
        revision = excluded.revision, modified = excluded.modified, expires = excluded.expires, size = excluded.size,
        checksum = excluded.checksum, content_type = excluded.content_type, serializer = excluded.serializer,
        version_tag = excluded.version_tag, app_version = excluded.app_version, owner = excluded.owner,
        content = excluded.content
        """

    /// The number of the change, by which watches notice it; see ``Listener``.
    private static func report(_ schema: String, _ alias: String) -> String {
        """
        RETURNING nextval('"\(schema)".change') AS change, \(alias).expires IS NULL OR \(alias).expires > \(now) AS found,
        (SELECT pg_notify('localdata_\(schema)', '') FROM "\(schema)".watcher WHERE until > now() LIMIT 1) AS notified
        """
    }

    /// The text of a statement that changes a value, and if it has done so, marks the write in the same transaction.
    ///
    /// - Parameters:
    ///   - link: The number of the parameter with the link.
    ///   - write: The number of the parameter with the write.
    private static func marking(_ statement: StoreStatement, link: Int, write: Int, _ schema: String) -> String {
        """
        WITH made AS (\(statement.changeText(schema))), marked AS (INSERT INTO "\(schema)".mark (link, write, found)
        SELECT $\(link)::int8, $\(write)::int8, made.found FROM made \(replacingMark)) SELECT * FROM made
        """
    }

    /// The end of a statement that marks a write.
    static let replacingMark =
        "ON CONFLICT (link) DO UPDATE SET write = excluded.write, found = excluded.found, made = excluded.made"

    /// The text of a statement that changes values. Each returns a row if it changed something or its condition held.
    func changeText(_ schema: String) -> String {
        let value = "\"\(schema)\".value"
        let insert = "INSERT INTO \(value) AS v (\(Self.columns)) VALUES (\(Self.newRow))"
        let report = Self.report(schema, "v")
        return switch self {
        case .set: "\(insert) ON CONFLICT (place, name) DO UPDATE SET \(Self.assignments) \(report)"
        case .add:
            """
            \(insert) ON CONFLICT (place, name) DO UPDATE SET \(Self.assignments) WHERE NOT \(Self.isLive) \(report)
            """
        case .replace:
            """
            UPDATE \(value) v SET revision = $3, modified = \(Self.now), expires = $4, size = $5, checksum = $6,
            content_type = $7, serializer = $8, version_tag = $9, app_version = $10, owner = $11, content = $12
            WHERE v.place = $1 AND v.name = $2 AND v.revision = $13 AND \(Self.isLive) \(report)
            """
        case .remove: "DELETE FROM \(value) v WHERE v.place = $1 AND v.name = $2 \(report)"
        case .removeRevision:
            "DELETE FROM \(value) v WHERE v.place = $1 AND v.name = $2 AND v.revision = $3 AND \(Self.isLive) \(report)"
        case .setAndMark: Self.marking(.set, link: 13, write: 3, schema)
        case .addAndMark: Self.marking(.add, link: 13, write: 3, schema)
        case .replaceAndMark: Self.marking(.replace, link: 14, write: 3, schema)
        case .removeAndMark: Self.marking(.remove, link: 3, write: 4, schema)
        case .removeRevisionAndMark: Self.marking(.removeRevision, link: 4, write: 5, schema)
        case .addPiece: "INSERT INTO \"\(schema)\".piece (revision, number, content) VALUES ($1, $2, $3)"
        case .holdRevision:
            """
            SELECT 1 FROM \(value) v WHERE v.place = $1 AND v.name = $2 AND v.revision = $3 AND \(Self.isLive) FOR SHARE
            """
        case .discard:
            "DELETE FROM \(value) v WHERE v.place = $1 AND v.name = $2 AND NOT \(Self.isLive) RETURNING 1"
        // What is due is found once, whatever the plan: if it were found for each row, the limit would hold for each
        // row.
        case .sweep:
            """
            WITH due AS MATERIALIZED (SELECT d.place, d.name FROM \(value) d WHERE d.expires <= \(Self.start)
            AND ($1::int4 IS NULL OR d.place = $1) ORDER BY d.expires LIMIT $2::int8 FOR UPDATE SKIP LOCKED)
            DELETE FROM \(value) v USING due WHERE v.place = due.place AND v.name = due.name RETURNING 1
            """
        // A row that is removed again: others who add the name wait for the end of the transaction.
        case .holdAbsence:
            """
            INSERT INTO \(value) AS v (place, name, revision, modified, size, checksum) VALUES ($1, $2, $3, 0, 0, 0)
            ON CONFLICT (place, name) DO UPDATE SET modified = v.modified WHERE NOT \(Self.isLive) RETURNING 1
            """
        default: ""
        }
    }
}
