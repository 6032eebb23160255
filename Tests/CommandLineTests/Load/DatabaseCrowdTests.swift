import FoundationEssentials
import TestSupport
import Testing

@Suite("Many processes on one SQLite database", .serialized)
struct DatabaseCrowdTests {
    private static let processes = 16

    private func home() throws -> Home {
        let home = try Home()
        try home.done("config", "set", "stores.database.component", "sqlite")
        for domain in ["userDefaults", "fileSystem"] { try home.done("config", "set", "domains.\(domain)", "database") }
        return home
    }

    @Test(
        "16 processes that write 100 keys each at once, from the first one on: every key is there, and nobody is busy")
    func writers() throws {
        let home = try home()
        _ = try home.checkImports(by: Self.processes, of: 100)
        #expect(try home.run("doctor").text.contains("'database' was checked; no damage was found"))
    }

    @Test("processes that read while others write and are killed: every value read is whole, and nobody is busy")
    func readersAndKilled() throws {
        let home = try home()
        let rounds = TestRun.isTorture ? 200 : 25
        let ending = try home.shell(
            """
            ld-host plugins list > list
            yes 0 | head -c 20000 > in.0 && ld-host set userDefaults/one --file in.0 && echo 0 > acknowledged
            for writer in 1 2 3 4; do
                (n=0; while [ $n -lt \(rounds) ]; do
                    n=$((n + 1)); yes $writer.$n | head -c 20000 > in.$writer
                    timeout -s KILL 0.0$((n % 5 + 1)) ld-host set userDefaults/one --file in.$writer 2>> killed
                done) & pids="$pids $!"
            done
            for reader in 1 2; do
                (while ! test -e done; do ld-host get userDefaults/one > out.$reader || echo failed
                    sort -u out.$reader | wc -l; done) > reader.$reader & readers="$readers $!"
            done
            wait $pids
            touch done
            wait $readers
            grep -c busy killed
            cat reader.1 reader.2 | sort | uniq -c | awk '{ print $2 }'
            """)
        // The last line of a value is cut.
        #expect(ending.text == "0\n1\n" || ending.text == "0\n1\n2\n" || ending.text == "0\n2\n", "\(ending.text)")
        #expect(ending.errors == "")
        #expect(try home.run("doctor").text.contains("'database' was checked; no damage was found"))
    }

    @Test("a value streams: it comes back to the byte, and the program's memory does not grow with it")
    func large() throws {
        let home = try home()
        let mebibytes = TestRun.isTorture ? 256 : 64
        let ending = try home.shell(
            """
            head -c \(mebibytes)M /dev/urandom > value
            \(LargeValueTests.measured) ld-host set fileSystem/large --stdin < value || exit 1
            \(LargeValueTests.measured) ld-host get fileSystem/large > back || exit 1
            cmp value back
            \(LargeValueTests.measured) ld-host set fileSystem/large --file value || exit 1
            """)
        #expect(ending.status == 0)
        #expect(ending.text == "")
        let peaks = ending.errors.split(separator: "\n").compactMap { Int($0) }
        try #require(peaks.count == 3, "\(ending.errors)")
        print("value of \(mebibytes) MiB in a database: peaks of memory in KiB \(peaks)")
        for peak in peaks {
            #expect(peak < 48 * 1024)
            #expect(peak > 1024)
        }
    }

    @Test("doctor reports a damaged database, and a file that is not one")
    func damaged() throws {
        let home = try home()
        for name in 1...20 { try home.done("set", "userDefaults/name\(name)", "value \(name)") }
        _ = try home.shell(
            "dd if=/dev/urandom of=data/localdata/values.sqlite bs=4096 seek=3 count=40 conv=notrunc 2> dd")
        let ending = try home.run("doctor")
        #expect(ending.status == 2)
        #expect(ending.text.contains("!!  store 'database' is damaged: '\(home.path)/data/localdata/values.sqlite': "))
        _ = try home.shell("rm data/localdata/values.sqlite* && echo text > data/localdata/values.sqlite")
        let other = try home.run("doctor")
        #expect(other.status == 2)
        #expect(other.text.contains("file is not a database"))
        #expect(try home.shell("cat data/localdata/values.sqlite").text == "text\n")
    }
}
