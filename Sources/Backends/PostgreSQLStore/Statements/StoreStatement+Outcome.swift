extension StoreStatement {
    /// The text of a statement that opens a session, or finds out what became of a write whose answer is missing.
    func outcomeText(_ schema: String) -> String {
        switch self {
        case .session:
            """
            SELECT pg_backend_pid(), current_setting('server_version_num')::int4,
            \(Self.isHasty), pg_is_in_recovery(), current_setting('fsync') = 'off',
            current_setting('full_page_writes') = 'off'
            """
        case .lockSession: "SELECT pg_advisory_lock($1::int8)"
        case .synchronize: "SET synchronous_commit = on"
        // Other roles may have put functions or operators into any other schema. Qualified, because it may be the first
        // statement.
        case .confine: "SELECT pg_catalog.set_config('search_path', '\(Self.path)', true)"
        case .keepAlive:
            """
            SELECT set_config('search_path', '\(Self.path)', false), set_config('tcp_keepalives_idle', '30', false), set_config('tcp_keepalives_interval', '10', false),
            set_config('tcp_keepalives_count', '3', false)
            """
        // Behind a pooler: waits while somebody fences the write off, and is refused afterwards.
        case .enter: "SELECT \"\(schema)\".enter($1::int8)"
        case .waitLimit:
            """
            SELECT set_config('lock_timeout', ($1::int8)::text, true), set_config('synchronous_commit',
            CASE WHEN \(Self.isHasty) THEN 'on' ELSE current_setting('synchronous_commit') END, true)
            """
        case .endSession:
            """
            SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND (classid::int8 << 32 | objid::int8) = $1::int8
            """
        case .awaitSession, .awaitWrite: "SELECT pg_advisory_xact_lock($1::int8)"
        // Writes a row in any case, so that the commit waits for the standby.
        case .fence:
            "INSERT INTO \"\(schema)\".fence (write) VALUES ($1) ON CONFLICT (write) DO UPDATE SET made = now()"
        case .cleanFences: "DELETE FROM \"\(schema)\".fence WHERE made < now() - interval '1 day'"
        case .mark:
            "INSERT INTO \"\(schema)\".mark (link, write, found) VALUES ($1, $2, true) \(Self.replacingMark)"
        case .marked: "SELECT write, found FROM \"\(schema)\".mark WHERE link = $1"
        // No call takes longer than an hour, so nobody asks for the outcome of these writes any more.
        case .cleanMarks:
            """
            DELETE FROM "\(schema)".mark WHERE link IN (
            SELECT link FROM "\(schema)".mark WHERE made < now() - interval '1 day' FOR UPDATE SKIP LOCKED)
            """
        default: ""
        }
    }

    /// Where names are looked up that have no schema: in the system's own, and at last in the session's.
    private static let path = "pg_catalog, pg_temp"

    /// The condition of a session whose commits may be confirmed before they survive a power loss: of the server, or of
    /// the standby that it waits for.
    private static let isHasty = "current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')"

    /// The text of a statement about a lock of a name.
    var lockText: String {
        switch self {
        case .lock: "SELECT true, pg_advisory_lock($1::int8)"
        case .tryLock: "SELECT pg_try_advisory_lock($1::int8)"
        case .lockInTransaction: "SELECT true, pg_advisory_xact_lock($1::int8)"
        case .unlock: "SELECT pg_advisory_unlock($1::int8)"
        default: "SELECT true"
        }
    }
}
