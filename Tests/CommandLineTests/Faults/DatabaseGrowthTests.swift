import FoundationEssentials
import Testing

@Suite("A SQLite database that grows while another process copies its log")
struct DatabaseGrowthTests {
    /// Stops `ld-host` when it allocates the file's blocks for a value, and meanwhile copies into the file the pages of
    /// rows that only the log had. A program that reserves nothing in the file, as this one, leaves such pages.
    private static let program = """
        import os, signal, sqlite3, subprocess, sys
        path = os.path.abspath("data/localdata/values.sqlite")
        database = sqlite3.connect(path, isolation_level=None)
        database.execute("PRAGMA wal_autocheckpoint = 0")
        database.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) "
            "INSERT INTO value (place, name, version, modified, size, content) "
            "SELECT place.id, 'row' || i, i, 0, 8000, CAST(printf('%.8000c', 'x') AS BLOB) FROM n, place LIMIT 60")
        faults = {"LD_PRELOAD": sys.argv[1], "LD_FAULT_ROOT": path, "LD_FAULT_AT": "1", "LD_FAULT_MODE": "stop"}
        command = ["ld-host", "set", "userDefaults/second", "0" * 8000]
        with subprocess.Popen(command, env=os.environ | faults) as growing:
            print(os.WIFSTOPPED(os.waitpid(growing.pid, os.WUNTRACED)[1]))
            blocked, pages, copied = database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            print(pages > 120 and copied == pages)
            growing.send_signal(signal.SIGCONT)
        print(growing.returncode)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        print(database.execute("PRAGMA integrity_check").fetchone()[0])
        rows = "SELECT count(*) FROM value WHERE content = CAST(printf('%.8000c', 'x') AS BLOB)"
        print(database.execute(rows).fetchone()[0])
        """

    @Test("the pages that are copied at that moment stay as they are")
    func beside() throws {
        let home = try Home()
        try home.done("set", "userDefaults/first", "value")
        let ending = try home.shell(
            "python3 - '\(FaultShim.library.get())' <<'END'\n\(Self.program)\nEND\nld-host doctor --scrub >/dev/null")
        #expect(ending.status == 0, "\(ending.errors)")
        #expect(ending.text == "True\nTrue\n0\nok\n60\n", "\(ending.errors)")
        #expect(try home.done("get", "userDefaults/second").text.utf8.count >= 8000)
    }
}
