import FoundationEssentials
import Glibc
import MigrationExercise
import TestSupport

/// A disturbance of a message that a migration sends to its server; see `Programs/sends.c`.
struct ServerMigrationPoint: CustomStringConvertible {
    enum Mode: String, CaseIterable {
        case killBefore = "kill-before"
        case killAfter = "kill-after"
        case loseBefore = "lose-before"
        case loseAfter = "lose-after"

        var kills: Bool { self == .killBefore || self == .killAfter }
    }

    let mode: Mode
    /// Which message is hit, from 1.
    let number: Int

    var description: String { "\(mode.rawValue) at message \(number)" }
}

/// A home and a database in which one case of migrations can be tried again and again from the same state, with a
/// disturbed connection.
final class ServerMigrationBench {
    /// One run of the program.
    struct Run {
        let ending: Home.Ending
        /// The program's report; `nil` if it was killed or failed before.
        let report: ExerciseReport?
        /// The number of messages that it sent.
        let messages: Int
    }

    let subject: ExerciseCase
    let home: Home
    private let server: PostgreSQLServer
    private let words: [String]
    private let libraries: String
    /// The database of the runs.
    private let database = "attempt_\(UInt32.random(in: 0 ... .max))"

    private static let library = Result {
        try PreloadedLibrary.build("sends", prefix: "sends", in: "CommandLineTests/Programs")
    }

    /// A server whose data survives the end of a process, but no power loss.
    private static let server = Result { try PostgreSQLServer("-c fsync=off -c full_page_writes=off") }

    /// Stores the values of the state before.
    init(_ description: MigrationCase) throws {
        subject = try description.kind.make(from: description.source, to: description.destination)
        words = description.words
        libraries = "\(try Self.library.get()) \(try FaultShim.library.get())"
        server = try Self.server.get()
        home = try Home()
        try sql("create database \(database)", in: "postgres")
        let ending = try home.run(MigrationBench.program, words + ["prepare"], adding: variables)
        guard ending.status == 0 else { throw TestFailure(ending.errors) }
        try sql(Self.keeping)
        try shell("mkdir before; for i in data state config; do if test -e $i; then mv $i before/$i; fi; done")
    }

    deinit { _ = try? sql("drop database if exists \(database) with (force)", in: "postgres") }

    private var log: String { "\(home.path)/sends" }

    private var variables: [String: String] {
        let uri = "postgresql://localdata@127.0.0.1:\(server.port)/\(database)?sslmode=disable"
        return [ExercisePlace.serverVariable: uri]
    }

    /// Restores the state before.
    func reset() throws {
        try sql("call before.restore()")
        try shell("rm -rf data state config; cp -a before/. .")
    }

    /// Saves the store's tables, if there are any, and creates a procedure that restores them and ends remaining
    /// connections.
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

    /// Runs a command of the program, disturbed at a point if one is given.
    func run(_ command: String, _ point: ServerMigrationPoint? = nil) throws -> Run {
        unlink(log)
        var variables = variables
        variables["LD_PRELOAD"] = libraries
        variables["LD_SEND_LOG"] = log
        variables["LD_FAULT_COUNT"] = "\(home.path)/count"
        variables["LD_FAULT_ROOT"] = ["data", "state", "config"].map { "\(home.path)/\($0)" }.joined(separator: ":")
        if let point {
            variables["LD_SEND_AT"] = String(point.number)
            variables["LD_SEND_MODE"] = point.mode.rawValue
        }
        let ending = try home.run(MigrationBench.program, words + [command], adding: variables)
        let messages = (try? Data(contentsOf: URL(filePath: log)).count { $0 == UInt8(ascii: "\n") }) ?? 0
        guard ending.status == 0 else { return Run(ending: ending, report: nil, messages: messages) }
        return Run(
            ending: ending, report: try JSONDecoder().decode(ExerciseReport.self, from: Data(ending.output)),
            messages: messages)
    }

    /// Runs a command undisturbed; it must report.
    func report(_ command: String) throws -> ExerciseReport {
        let run = try run(command)
        guard let report = run.report else {
            throw TestFailure("\(command): status \(run.ending.status), \(run.ending.errors)")
        }
        return report
    }

    /// The data that the host keeps for itself in the database: the number of values in each of its domains.
    func kept() throws -> String {
        let count = """
            select convert_from(domain, 'SQL_ASCII'), count(*) from localdata.value join localdata.place on id = place
            where convert_from(domain, 'SQL_ASCII') like 'localdata.%' group by 1 order by 1;
            """
        return try sql(count)
    }

    @discardableResult private func sql(_ statement: String, in database: String? = nil) throws -> String {
        let ending = try home.shell(
            """
            for psql in /usr/lib/postgresql/*/bin/psql; do :; done
            exec $psql -X -q -t -A -v ON_ERROR_STOP=1 -h 127.0.0.1 -p \(server.port) -U localdata -d "$NAME" <<'END'
            \(statement)
            END
            """, adding: ["NAME": database ?? self.database])
        guard ending.status == 0 else { throw TestFailure("\(statement): \(ending.errors)") }
        return ending.text
    }

    private func shell(_ line: String) throws {
        let ending = try home.shell(line)
        guard ending.status == 0 else { throw TestFailure(ending.errors) }
    }
}
