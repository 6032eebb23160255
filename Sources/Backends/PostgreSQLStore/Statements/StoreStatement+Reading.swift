extension StoreStatement {
    /// The columns of attributes, in the order in which `ValueAttributes` reads them.
    private static let described =
        "v.size, v.modified, v.content_type, v.serializer, v.version_tag, v.app_version, v.owner, v.expires"

    /// The text of a statement that changes nothing but the list of watchers.
    func readText(_ schema: String) -> String {
        let one = "FROM \"\(schema)\".value v WHERE v.place = $1 AND v.name = $2"
        let many = "v.place = $1 AND v.name >= $2 AND v.name < $3 AND \(Self.isLive) ORDER BY v.name LIMIT $4::int8"
        return switch self {
        case .findPlace: "SELECT id FROM \"\(schema)\".place WHERE domain = $1 AND scope = $2"
        case .addPlace:
            "INSERT INTO \"\(schema)\".place (domain, scope) VALUES ($1, $2) ON CONFLICT DO NOTHING"
        case .places:
            """
            SELECT p.id, p.domain, p.scope FROM "\(schema)".place p
            WHERE p.id > $1 AND EXISTS (SELECT FROM "\(schema)".value v WHERE v.place = p.id AND \(Self.isLive))
            ORDER BY p.id LIMIT $2::int8
            """
        case .exists: "SELECT \(Self.isLive) \(one)"
        case .revision: "SELECT \(Self.isLive), v.revision \(one)"
        case .value: "SELECT \(Self.isLive), v.revision, v.size, v.checksum, v.version_tag, v.content \(one)"
        case .describedValue:
            """
            SELECT \(Self.isLive), v.revision, v.size, v.checksum, v.version_tag, v.content, \(Self.described) \(one)
            """
        case .attributes: "SELECT \(Self.isLive), \(Self.described) \(one)"
        case .names: "SELECT v.name FROM \"\(schema)\".value v WHERE \(many)"
        case .expired:
            """
            SELECT v.name FROM "\(schema)".value v
            WHERE v.place = $1 AND v.name >= $2 AND v.name < $3 AND NOT \(Self.isLive) ORDER BY v.name LIMIT $4::int8
            """
        case .values:
            """
            SELECT v.name, v.revision, v.checksum, CASE WHEN v.size <= $5::int8 THEN coalesce(v.content,
            (SELECT string_agg(p.content, ''::bytea ORDER BY p.number) FROM "\(schema)".piece p
            WHERE p.revision = v.revision)) END, \(Self.described) FROM "\(schema)".value v WHERE \(many)
            """
        case .pieces:
            """
            SELECT content FROM "\(schema)".piece WHERE revision = $1 AND number >= $2 ORDER BY number LIMIT $3::int8
            """
        case .changes: "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM \"\(schema)\".change"
        // Each transaction that changes something holds a lock on its number until others see its changes. A snapshot
        // does not list the latest ones.
        case .running:
            """
            SELECT transactionid::text FROM pg_locks
            WHERE locktype = 'transactionid' AND mode = 'ExclusiveLock' AND granted
            """
        case .replayed: "SELECT pg_is_in_recovery(), (pg_last_wal_replay_lsn() - '0/0')::int8"
        case .addWatcher:
            """
            INSERT INTO "\(schema)".watcher (id, until) VALUES ($1, now() + interval '2 minutes')
            ON CONFLICT (id) DO UPDATE SET until = excluded.until
            """
        case .strayPieces:
            """
            SELECT count(*) FROM (SELECT DISTINCT p.revision FROM "\(schema)".piece p) p
            WHERE NOT EXISTS (SELECT FROM "\(schema)".value v WHERE v.revision = p.revision AND v.content IS NULL)
            """
        default: ""
        }
    }
}
