import FoundationEssentials
import Testing

/// Every call of `ld-host` is a separate process, and nothing closes the database before that ends.
@Suite("The log of a SQLite database that one process after the other uses", .serialized)
struct DatabaseLogTests {
    /// The largest log when a process ends: the size at which it is truncated, and a change.
    private static let most = 1 << 20 + 64 << 10

    private static func logSize(_ home: Home) throws -> Int {
        let path = "\(home.path)/data/localdata/values.sqlite-wal"
        return try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    /// The files of the database.
    private static func files(_ home: Home) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(home.path)/data/localdata").filter {
            $0.hasPrefix("values")
        }.sorted()
    }

    /// A script that prints how many reading system calls a command makes.
    private static func reads(_ command: String) -> String {
        """
        before=$(awk '/syscr/ { print $2 }' /proc/$$/io)
        \(command) || exit 1
        after=$(awk '/syscr/ { print $2 }' /proc/$$/io)
        echo $((after - before))
        """
    }

    @Test("of 700 processes that set a value each, the last one reads no more than a short log")
    func sets() throws {
        let home = try Home()
        let ending = try home.shell(
            """
            ld-host set userDefaults/k0 value
            \(Self.reads("ld-host set userDefaults/k1 value"))
            for number in $(seq 700); do ld-host set userDefaults/k$((number % 50)) value$number || exit 1; done
            \(Self.reads("ld-host set userDefaults/k1 value"))
            """)
        #expect(ending.status == 0, "\(ending.errors)")
        let counts = ending.text.split(separator: "\n").compactMap { Int($0) }
        try #require(counts.count == 2)
        // One read for each page of the log, of 4 KiB and a few bytes, and those of the shell.
        #expect(counts[1] < counts[0] + 300, "\(counts)")
        #expect(try Self.files(home) == ["values.sqlite"])
        #expect(try home.done("get", "userDefaults/k0").text == "value700")
    }

    @Test("a large value that was set twice and removed leaves a short log to the next process")
    func large() throws {
        let home = try Home()
        try home.done("config", "set", "domains.fileSystem", "sqlite")
        let ending = try home.shell(
            """
            head -c 64M /dev/urandom > value
            for round in 1 2; do ld-host set fileSystem/large --stdin < value || exit 1; done
            ld-host rm fileSystem/large
            """)
        #expect(ending.status == 0, "\(ending.errors)")
        #expect(try Self.files(home) == ["values.sqlite"])
    }

    @Test("the last of processes that only read leaves what a killed one has written in the database itself")
    func merged() throws {
        let home = try Home()
        let frame = PipeExchange.frame(#"{"id":1,"op":"set","domain":"userDefaults","name":"n"}"#, Array("new".utf8))
        try Data(frame).write(to: URL(filePath: "\(home.path)/frame"))
        let ending = try home.shell(
            """
            ld-host set userDefaults/n old
            mkfifo in; ld-host pipe < in > out & process=$!
            exec 3> in; cat frame >&3
            while ! test -s out; do sleep 0.02; done
            kill -KILL $process
            ls data/localdata | grep values
            ld-host get userDefaults/n; echo
            rm -f data/localdata/values.sqlite-*
            ld-host get userDefaults/n
            """)
        #expect(
            ending.text == "values.sqlite\nvalues.sqlite-shm\nvalues.sqlite-wal\nnew\nnew", "\(ending.errors)")
        #expect(try Self.files(home) == ["values.sqlite"])
    }

    @Test("each of many processes that end beside others leaves the database whole, and the last one no log")
    func ending() throws {
        let home = try Home()
        let ending = try home.shell(
            """
            ld-host set userDefaults/k0 0
            for process in 1 2 3 4; do
                for number in $(seq 25); do
                    ld-host set userDefaults/k$process $number || echo failed
                    test "$(ld-host get userDefaults/k$process)" = $number || echo stale
                    ld-host get userDefaults/k0 > /dev/null || echo failed
                done &
            done
            wait
            ld-host ls userDefaults
            """)
        #expect(
            ending.text == (0...4).map { "userDefaults/k\($0)\n" }.joined() && ending.errors.isEmpty,
            "\(ending.text)\(ending.errors)")
        #expect(try Self.files(home) == ["values.sqlite"])
    }

    @Test("a log that killed processes have left is truncated by the next writer, even if that is killed, too")
    func killed() throws {
        let home = try Home()
        let frames = PipeExchange.frame(
            #"{"id":1,"op":"set","domain":"userDefaults","scope":"s","name":"n"}"#, [UInt8](repeating: 7, count: 2000))
        try Data((0..<800).flatMap { _ in frames }).write(to: URL(filePath: "\(home.path)/many"))
        try Data(frames).write(to: URL(filePath: "\(home.path)/one"))
        func serve(_ requests: String, _ count: Int) throws {
            // An answer is a frame with {"id":1}.
            let ending = try home.shell(
                """
                rm -f requests; mkfifo requests; : > answers
                ld-host pipe < requests > answers & process=$!
                exec 3> requests
                cat \(requests) >&3
                while kill -0 $process && [ $(wc -c < answers) -lt \(16 * count) ]; do sleep 0.02; done
                kill -KILL $process
                wc -c < answers
                """)
            #expect(ending.text == "\(16 * count)\n", "\(ending.errors)")
        }
        try serve("many", 800)
        #expect(try Self.logSize(home) > Self.most)
        try serve("one", 1)
        #expect(try Self.logSize(home) < Self.most)
        #expect(try home.run("get", "userDefaults:s/n").output.count >= 2000)
    }

    @Test("a permanent reader blocks the log's truncation, but no calls")
    func reader() throws {
        let home = try Home()
        let ending = try home.shell(
            """
            ld-host set userDefaults/n value
            cat > reader.py <<'PYTHON'
            import sqlite3, sys
            database = sqlite3.connect("data/localdata/values.sqlite", isolation_level=None)
            database.execute("BEGIN")
            database.execute("SELECT count(*) FROM value").fetchall()
            print("reading", flush=True)
            sys.stdin.read()
            PYTHON
            mkfifo end; python3 reader.py < end > reading & reader=$!
            exec 3> end
            while [ "$(cat reading)" != reading ]; do kill -0 $reader || exit 1; sleep 0.02; done
            head -c 2M /dev/urandom > value
            for number in 1 2 3; do ld-host set userDefaults/large --stdin < value || echo failed; done
            stat -c %s data/localdata/values.sqlite-wal
            exec 3>&-; wait $reader
            ld-host set userDefaults/n value
            """)
        #expect(ending.status == 0, "\(ending.errors)")
        #expect(try #require(Int(ending.text.dropLast())) > Self.most, "\(ending.text)")
        #expect(try Self.files(home) == ["values.sqlite"])
    }
}
