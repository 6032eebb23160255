import Glibc
import TestSupport

/// A primary and a synchronous standby, which can exchange their roles.
final class PrimaryAndStandby {
    private(set) var primary: PostgreSQLServer
    private(set) var standby: PostgreSQLServer

    /// The URI that names both.
    let uri: String

    init() throws {
        primary = try PostgreSQLServer()
        standby = try PostgreSQLServer(standbyOf: primary)
        let hosts = [primary, standby].map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        uri = "postgresql://localdata@\(hosts)/postgres?target_session_attrs=read-write"
        try synchronize()
    }

    /// Kills the primary and promotes the standby. The new primary is then alone, and confirms commits without a
    /// standby.
    ///
    /// - Parameter isLate: Whether the standby misses the last 100 ms: then a write that did not wait for it is lost.
    func failOver(isLate: Bool = false) throws {
        if isLate {
            for sender in try primary.run("SELECT pid FROM pg_stat_replication") {
                if let sender = pid_t(sender), sender > 1 { Glibc.kill(sender, SIGSTOP) }
            }
            usleep(100_000)
        }
        try primary.kill()
        try standby.promote()
    }

    /// Discards the killed primary and makes a new standby, on its port, from the promoted one.
    func restore() throws {
        let port = primary.port
        // Dropping the last reference to the killed server ends it, so that its port is free.
        primary = standby
        standby = try PostgreSQLServer(standbyOf: primary, port: port)
        try synchronize()
    }

    /// Makes each commit wait for the standby. Only a primary with a running standby has this setting: without one, its
    /// commits would not end. The standby's copy of the configuration must not have the setting, either.
    private func synchronize() throws {
        try primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try primary.run("SELECT pg_reload_conf()")
        try awaitSynchronous()
    }

    /// Waits until the standby is connected and has caught up.
    func awaitSynchronous() throws {
        try primary.run(Self.awaiting("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'"))
    }

    /// Waits until the standby has everything that the primary has confirmed so far, even from before it was
    /// synchronous. Clients must be writing: once one of them waits for the standby, the setting is certainly in
    /// effect.
    func awaitStandby() throws {
        try primary.run(Self.awaiting("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'"))
        let end = try primary.run("SELECT pg_current_wal_insert_lsn()").first ?? ""
        try primary.run(
            Self.awaiting("SELECT FROM pg_stat_replication WHERE sync_state = 'sync' AND flush_lsn >= '\(end)'"))
    }

    /// Waits until no server process of the primary waits for the standby.
    func awaitNoneWaiting() throws {
        let isWaiting = "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        try primary.run(Self.awaiting("SELECT WHERE NOT EXISTS (\(isWaiting))"))
    }

    /// A statement that waits until a query has a row.
    private static func awaiting(_ query: String) -> String {
        """
        DO $$ BEGIN
            WHILE NOT EXISTS (\(query)) LOOP
                PERFORM pg_sleep(0.005);
                PERFORM pg_stat_clear_snapshot();
            END LOOP;
        END $$
        """
    }
}
