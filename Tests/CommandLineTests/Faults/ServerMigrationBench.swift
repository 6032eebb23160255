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
    let subject: ExerciseCase
    let home: Home
    /// The database of the runs.
    private let database: ServerDatabase
    private let server: ExerciseServer

    static let library = Result {
        try PreloadedLibrary.build("sends", prefix: "sends", in: "CommandLineTests/Programs")
    }

    /// A server whose data survives the end of a process, but no power loss.
    static let server = Result { try PostgreSQLServer("-c fsync=off -c full_page_writes=off") }

    private static let folders = ["data", "state", "config"]

    /// Stores the values of the state before.
    init(_ description: MigrationCase) throws {
        subject = try description.kind.make(from: description.source, to: description.destination)
        home = try Home()
        database = try ServerDatabase(of: Self.server.get(), in: home)
        let path = home.path
        server = try ExerciseServer(
            description.words, in: home, plugins: ["FileStore", "SQLiteStore", "PostgreSQLStore", "OpenSSLCrypto"],
            adding: [
                "LD_PRELOAD": "\(try Self.library.get()) \(try FaultShim.library.get())",
                "LD_FAULT_ROOT": Self.folders.map { "\(path)/\($0)" }.joined(separator: ":"),
                ExercisePlace.serverVariable: database.uri,
            ])
        _ = try report("prepare")
        try database.keep()
        try shell("mkdir before; for i in \(Self.list); do if test -e $i; then mv $i before/$i; fi; done")
    }

    private static var list: String { folders.joined(separator: " ") }
    private var log: String { "\(home.path)/sends" }

    /// Restores the state before.
    func reset() throws {
        try database.restore()
        try shell("rm -rf \(Self.list); cp -a before/. .")
    }

    /// Runs a command of the program, disturbed at a point if one is given. Returns also the number of messages that it
    /// sent.
    func run(
        _ command: String, _ point: ServerMigrationPoint? = nil
    ) throws -> (run: ExerciseServer.Run, messages: Int) {
        unlink(log)
        var faults = ["LD_SEND_LOG": log, "LD_FAULT_COUNT": "\(home.path)/count"]
        if let point {
            faults["LD_SEND_AT"] = String(point.number)
            faults["LD_SEND_MODE"] = point.mode.rawValue
        }
        let run = try server.run(command, faults: faults)
        return (run, (try? Data(contentsOf: URL(filePath: log)).count { $0 == UInt8(ascii: "\n") }) ?? 0)
    }

    /// Runs a command undisturbed; it must report.
    func report(_ command: String) throws -> ExerciseReport {
        let run = try run(command).run
        guard let report = run.report else {
            throw TestFailure("\(command): status \(run.ending.status), \(run.ending.errors)")
        }
        return report
    }

    /// The data that the host keeps for itself in the database: the number of values in each of its domains.
    func kept() throws -> String {
        try database.run(
            """
            select convert_from(domain, 'SQL_ASCII'), count(*) from localdata.value join localdata.place on id = place
            where convert_from(domain, 'SQL_ASCII') like 'localdata.%' group by 1 order by 1;
            """)
    }

    private func shell(_ line: String) throws {
        let ending = try home.shell(line)
        guard ending.status == 0 else { throw TestFailure(ending.errors) }
    }
}
