import TestSupport
import Testing

/// Programs that use a domain while its store is switched: see `Programs/switched_stores.py`. 5,000 switches with
/// `LOCALDATA_TORTURE=1`.
@Suite("Stores that are switched while programs run", .serialized) struct SwitchedStoresTests {
    private func expectNothingLost(_ home: Home, _ stores: String, switches: Int, kills: Int, counts: Int) throws {
        try home.done(
            "config", "set", "stores.sealed",
            #"{"component": "file", "options": {"root": "\#(home.path)/sealed"}, "sealing": "keyFile"}"#)
        try home.done(
            "config", "set", "stores.vault",
            #"{"component": "sqlite", "options": {"path": "\#(home.path)/vault.sqlite"}, "sealing": "keyFile"}"#)
        let program = "\(Repository.tests)/CommandLineTests/Programs/switched_stores.py"
        let ending = try home.shell(
            "/usr/bin/python3 '\(program)' \(switches) \(TestRun.seed) \(kills) \(counts) \(stores)",
            deadline: .seconds(TestRun.isTorture ? 3 * 3600 : 1200))
        #expect(ending.status == 0 && ending.text == "\(switches) switches\n", "\(ending.text)\(ending.errors)")
    }

    @Test("lose nothing and answer nothing old, with both stores of this machine, plain and sealed")
    func machine() throws {
        try expectNothingLost(
            Home(), "file sqlite sealed vault", switches: TestRun.isTorture ? 3000 : 60, kills: 0,
            counts: TestRun.isTorture ? 20_000 : 300)
    }

    @Test("nor if the switching command is killed at any moment")
    func killed() throws {
        try expectNothingLost(
            Home(), "file sqlite sealed vault", switches: TestRun.isTorture ? 1500 : 60, kills: 50,
            counts: TestRun.isTorture ? 10_000 : 200)
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
            home, "file shared sqlite", switches: TestRun.isTorture ? 500 : 20, kills: 30,
            counts: TestRun.isTorture ? 5000 : 100)
    }
}
