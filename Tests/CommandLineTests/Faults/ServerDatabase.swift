import TestSupport

/// A database of its own on a server, which ends with the object.
final class ServerDatabase {
    let uri: String
    private let name: String
    private let server: PostgreSQLServer
    private let home: Home
    /// The server's own client, connected to this database.
    private let client: Companion

    init(of server: PostgreSQLServer, in home: Home) throws {
        name = "attempt_\(UInt32.random(in: 0 ... .max))"
        (self.server, self.home) = (server, home)
        uri = "postgresql://localdata@127.0.0.1:\(server.port)/\(name)?sslmode=disable"
        let created = try home.shell("\(Self.client(server, "postgres")) -c 'create database \(name)'")
        guard created.status == 0 else { throw TestFailure(created.errors) }
        client = try Companion(
            "/bin/sh", ["-c", "echo ready; \(Self.client(server, name)) 2>&1"], environment: home.environment)
    }

    deinit {
        _ = try? home.shell("\(Self.client(server, "postgres")) -c 'drop database \(name) with (force)'")
    }

    /// Runs statements.
    ///
    /// - Returns: Their rows, with `|` between columns.
    /// - Throws: ``TestFailure`` with the server's message; the client ends at the first error.
    @discardableResult func run(_ statements: String) throws -> String {
        try client.send("\(statements)\n\\echo ready")
    }

    /// Remembers the store's tables, if there are any.
    func keep() throws { try run(Self.keeping) }

    /// Restores what ``keep()`` has remembered, and ends remaining connections.
    func restore() throws { try run("call before.restore();") }

    private static let keeping = """
        create schema before;
        do $do$ declare name text; begin
            for name in select tablename from pg_tables where schemaname = 'localdata' loop
                execute format('create table before.%1$I as table localdata.%1$I', name);
            end loop;
            for name in select sequencename from pg_sequences where schemaname = 'localdata' loop
                execute format('create table before.%1$I as select last_value, is_called from localdata.%1$I', name);
            end loop;
        end $do$;
        create procedure before.restore() language plpgsql as $do$ declare name text; begin
            perform pg_terminate_backend(pid, 10000) from pg_stat_activity
                where datname = current_database() and pid <> pg_backend_pid();
            if to_regclass('before.store') is null then
                drop schema if exists localdata cascade;
                return;
            end if;
            for name in select tablename from pg_tables where schemaname = 'localdata' loop
                execute format('truncate localdata.%I', name);
                execute format('insert into localdata.%1$I overriding system value table before.%1$I', name);
            end loop;
            for name in select sequencename from pg_sequences where schemaname = 'localdata' loop
                execute format('select setval(%L, last_value, is_called) from before.%I', 'localdata.' || name, name);
            end loop;
        end $do$;
        """

    /// A command line that starts the newest client that is installed.
    private static func client(_ server: PostgreSQLServer, _ database: String) -> String {
        """
        for psql in /usr/lib/postgresql/*/bin/psql; do :; done
        exec $psql -X -q -t -A -v ON_ERROR_STOP=1 -h 127.0.0.1 -p \(server.port) -U localdata -d \(database)
        """
    }
}
