import Glibc
import TestSupport
import Testing

/// Programs that use a domain while its store is switched: see `Programs/switched_stores.py`. 200 switches; 5,000 with
/// `LOCALDATA_TORTURE=1`.
@Suite("Stores that are switched while programs run", .serialized) struct SwitchedStoresTests {
    /// A command that runs others with shared memory of their own. Tests beside this one stop programs of the same user
    /// in the middle of a change, and a switch waits for all that share its memory.
    private static let apart =
        "unshare -Urm sh -c 'mount -t tmpfs tmpfs /dev/shm && "
        + "exec unshare -U --map-user=\(getuid()) --map-group=\(getgid()) \"$0\" \"$@\"'"

    private func expectNothingLost(
        _ home: Home, _ stores: String, switches: Int, kills: Int, counts: Int, values: Int = 100,
        in session: String = ""
    ) throws {
        try home.done(
            "config", "set", "stores.sealed",
            #"{"component": "file", "options": {"root": "\#(home.path)/sealed"}, "sealing": "keyFile"}"#)
        try home.done(
            "config", "set", "stores.vault",
            #"{"component": "sqlite", "options": {"path": "\#(home.path)/vault.sqlite"}, "sealing": "keyFile"}"#)
        let program = "\(Repository.tests)/CommandLineTests/Programs/switched_stores.py"
        let ending = try home.shell(
            "\(Self.apart) \(session) /usr/bin/python3 '\(program)' \(switches) \(TestRun.seed) \(kills) \(counts) "
                + "\(values) \(stores)",
            deadline: .seconds(TestRun.isTorture ? 3 * 3600 : 1200))
        #expect(ending.status == 0 && ending.text == "\(switches) switches\n", "\(ending.text)\(ending.errors)")
    }

    @Test("lose nothing and answer nothing old, with both stores of this machine, plain and sealed")
    func machine() throws {
        try expectNothingLost(
            Home(), "file sqlite sealed vault", switches: TestRun.isTorture ? 3000 : 80, kills: 0,
            counts: TestRun.isTorture ? 20_000 : 150)
    }

    @Test("nor if the switching command is killed at any moment")
    func killed() throws {
        try expectNothingLost(
            Home(), "file sqlite sealed vault", switches: TestRun.isTorture ? 1500 : 90, kills: 50,
            counts: TestRun.isTorture ? 10_000 : 100)
    }

    @Test("nor with a server")
    func server() throws {
        let home = try Home()
        let server = try PostgreSQLServer.shared.get()
        try home.done(
            "config", "set", "stores.shared",
            #"{"component": "postgresql", "options": {"uri": "\#(server.uri())", "schema": "switched_\#(UInt32.random(in: 0 ... .max))"}}"#
        )
        try expectNothingLost(
            home, "file shared sqlite", switches: TestRun.isTorture ? 500 : 30, kills: 30,
            counts: TestRun.isTorture ? 5000 : 60)
    }

    // No counts: the Secret Service has no conditional changes, so that programs must not count in it together. Few
    // values: each takes it some hundredths of a second.
    @Test("nor with a Secret Service")
    func secretService() throws {
        try expectNothingLost(
            Home(), "file secret-service vault", switches: TestRun.isTorture ? 200 : 12, kills: 30, counts: 0,
            values: 10,
            in: "/bin/sh '\(Repository.tests)/CommandLineTests/Programs/keyring_session.sh'")
    }

    @Test("a migration of many values beside it ends as if nothing were switched")
    func migrations() throws {
        let rounds = TestRun.isTorture ? 200 : 4
        try expect("\(rounds) rounds", from: "switched_migrations.py \(rounds) 3000 \(TestRun.seed)")
    }

    @Test("devices that sync beside it lose no version, and bring none back")
    func sync() throws {
        let switches = TestRun.isTorture ? 500 : 15
        try expect("\(switches) switches", from: "switched_sync.py \(switches) \(TestRun.seed)")
    }

    private func expect(_ line: String, from program: String) throws {
        let ending = try Home().shell(
            "\(Self.apart) /usr/bin/python3 \(Repository.tests)/CommandLineTests/Programs/\(program)",
            deadline: .seconds(TestRun.isTorture ? 3 * 3600 : 1200))
        #expect(ending.status == 0 && ending.text == "\(line)\n", "\(ending.text)\(ending.errors)")
    }
}
