import FoundationEssentials
import TestSupport
import Testing

/// Each machine is a separate home, with its own configuration, state and keys.
@Suite("Machines that share a PostgreSQL database", .serialized) struct ManyMachinesTests {
    private let server: PostgreSQLServer
    private let schema = "machines_\(UInt32.random(in: 0 ... .max))"

    init() throws { server = try PostgreSQLServer.shared.get() }

    private func machine(_ server: PostgreSQLServer? = nil) throws -> Home {
        let home = try Home()
        try home.done("config", "set", "stores.shared.component", "postgresql")
        try home.done("config", "set", "stores.shared.options.uri", (server ?? self.server).uri())
        try home.done("config", "set", "stores.shared.options.schema", schema)
        try home.done("config", "set", "domains.userDefaults", "shared")
        return home
    }

    @Test("what one stores, the other reads, and conditional changes hold among them")
    func share() throws {
        let (one, two) = (try machine(), try machine())
        let first = try one.done("set", "userDefaults/a", "1", "--create").text.dropLast()
        #expect(try two.run("set", "userDefaults/a", "2", "--create").status == 2)
        #expect(try two.done("get", "userDefaults/a").text == "1")
        try two.done("set", "userDefaults/a", "2", "--if-revision", String(first))
        #expect(try one.run("set", "userDefaults/a", "3", "--if-revision", String(first)).status == 2)
        #expect(try one.done("get", "userDefaults/a").text == "2")
        try two.done("set", "userDefaults/soon", "x", "--expires", "1s")
        #expect(try one.shell("sleep 1.1; ld-host ls").text == "userDefaults/a\n")
    }

    /// 200 rounds with `LOCALDATA_TORTURE=1`.
    @Test("of 50 processes that create one value, one wins")
    func create() throws {
        let home = try machine()
        let rounds = TestRun.isTorture ? 200 : 6
        let ending = try home.shell(
            """
            for i in $(seq 50); do "$BIN/migration-exercise" create \(rounds) > out.$i & pids="$pids $!"; done
            for pid in $pids; do wait $pid || echo failed; done
            cat out.* | sort -n
            """)
        #expect(ending.text == (0..<rounds).map { "\($0)\n" }.joined(), "\(ending.errors)")
    }

    /// 50 trials with `LOCALDATA_TORTURE=1`.
    @Test("two that start the same migrations at once: each runs once")
    func migrate() throws {
        for trial in 0..<(TestRun.isTorture ? 50 : 4) {
            let homes = [try machine(), try machine()]
            let steps = (0..<5).map { number in
                let key = "userDefaults:trial\(trial)"
                let rename = #"{"from": "\#(key)/old\#(number)", "to": "\#(key)/new\#(number)"}"#
                return #"{"id": "m\#(trial)-\#(number)", "rename": \#(rename)}"#
            }
            let manifest = "[\(steps.joined(separator: ","))]"
            for home in homes {
                try home.done("config", "set", "migrations.packs.app.component", "standard")
                try home.done("config", "set", "migrations.packs.app.options.manifest", manifest)
            }
            for number in 0..<5 { try homes[0].done("set", "userDefaults:trial\(trial)/old\(number)", "\(number)") }
            let ending = try homes[0].shell(
                """
                ld-host migrate run --json > one & first=$!
                HOME=$OTHER XDG_CONFIG_HOME=$OTHER/config XDG_DATA_HOME=$OTHER/data XDG_CACHE_HOME=$OTHER/cache \\
                    XDG_STATE_HOME=$OTHER/state ld-host migrate run --json > two & second=$!
                wait $first || echo failed
                wait $second || echo failed
                cat one two | grep -c '"migrated"'
                """, adding: ["OTHER": homes[1].path])
            #expect(ending.text == "5\n", "\(ending.text)\(ending.errors)")
            let names = (0..<5).map { "userDefaults:trial\(trial)/new\($0)\n" }.joined()
            #expect(try homes[1].done("ls", "userDefaults:trial\(trial)").text == names)
        }
    }

    /// 40 rounds with `LOCALDATA_TORTURE=1`.
    @Test("sealed values: first use, rotation, resealing and writing on two machines at once lose nothing")
    func sealed() throws {
        let homes = [try machine(), try machine()]
        let credentials = try TemporaryFolder.make(named: "credentials", mode: 0o700)
        defer { try? FileManager.default.removeItem(atPath: credentials) }
        try Data("a credential of both machines".utf8).write(to: URL(filePath: "\(credentials)/ring"))
        for home in homes {
            home.add("CREDENTIALS_DIRECTORY", credentials)
            try home.done("config", "set", "stores.shared.sealing", #"{"source": "credential", "name": "ring"}"#)
        }
        let ending = try homes[0].shell(
            """
            there() {
                HOME=$OTHER XDG_CONFIG_HOME=$OTHER/config XDG_DATA_HOME=$OTHER/data XDG_CACHE_HOME=$OTHER/cache \
                    XDG_STATE_HOME=$OTHER/state "$@"
            }
            for i in 1 2 3 4; do
                ld-host set userDefaults/here$i 0 & there ld-host set userDefaults/there$i 0 &
            done
            wait
            for round in $(seq \(TestRun.isTorture ? 40 : 3)); do
                ld-host keys rotate --store shared > rotated & there ld-host keys rotate --store shared > rotated.there &
                ld-host reseal --store shared > resealed & there ld-host reseal --store shared > resealed.there &
                for i in 1 2 3 4; do
                    ld-host set userDefaults/here$i $round & there ld-host set userDefaults/there$i $round &
                done
                wait
                for i in 1 2 3 4; do
                    test "$(there ld-host get userDefaults/here$i)" = $round || echo "here$i in round $round"
                    test "$(ld-host get userDefaults/there$i)" = $round || echo "there$i in round $round"
                done
            done
            """, adding: ["OTHER": homes[1].path])
        #expect(ending.text == "", "\(ending.text)\(ending.errors)")
    }

    @Test("with the server down, calls fail at once and name the host, and other domains work")
    func down() throws {
        let server = try PostgreSQLServer()
        let home = try machine(server)
        try home.done("set", "userDefaults/a", "1")
        let sound = try home.done("store", "test", "shared")
        #expect(sound.text.split(separator: "\n").allSatisfy { $0.hasPrefix("ok") }, "\(sound.text)")
        try server.stop()
        for words in [["get", "userDefaults/a"], ["set", "userDefaults/a", "2"], ["store", "test", "shared"]] {
            let ending = try home.run(BuiltProducts.host, words)
            #expect(ending.status == 2)
            #expect(
                ending.errors.contains("the server at 127.0.0.1:\(server.port) cannot be reached"), "\(ending.errors)")
        }
        try home.done("set", "fileSystem/b", "1")
        let doctor = try home.run("doctor")
        #expect(doctor.text.contains("127.0.0.1:\(server.port)"), "\(doctor.text)")
        try server.start()
        #expect(try home.done("get", "userDefaults/a").text == "1")
    }
}
