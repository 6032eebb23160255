import FoundationEssentials
import Testing

@Suite("A crash with a secret in memory")
struct CrashTests {
    private static let signals: [(name: String, number: Int32)] = [
        ("SEGV", 11), ("ABRT", 6), ("ILL", 4), ("TRAP", 5), ("BUS", 7), ("FPE", 8), ("QUIT", 3),
    ]

    @Test(
        "ends the program by its signal, with nothing on standard error and no core dump, even if a report is wanted",
        arguments: ["keychain:service/k", "encryptedFileSystem/k"],
        ["", "enable=yes", "enable=yes,color=no,limit=none"])
    func crash(_ address: String, _ backtrace: String) throws {
        let home = try Home()
        // The pieces of the value are text, so that a report would show it in its column of characters, too. Bytes
        // written to the pipe beyond its capacity have been read.
        let ending = try home.shell(
            """
            ulimit -c unlimited 2> ignored || :
            head -c 300000 /dev/urandom | base64 -w 0 > value
            mkfifo pipe
            for name in \(Self.signals.map(\.name).joined(separator: " ")); do
                ld-host set \(address) --stdin < pipe > output.$name 2> errors.$name & pid=$!
                exec 3> pipe
                head -c 200000 value >&3
                kill -$name $pid
                wait $pid 2> ignored
                echo $name $?
                exec 3>&-
            done
            ls | grep core
            cat output.* errors.*
            ld-host exists \(address)
            """, adding: backtrace.isEmpty ? [:] : ["SWIFT_BACKTRACE": backtrace])
        let expected = Self.signals.map { "\($0.name) \(128 + $0.number)\n" }.joined()
        #expect(ending.text == expected)
        #expect(ending.status == 1, "a part of the value was stored")
        for (name, _) in Self.signals {
            let errors = try Data(contentsOf: URL(filePath: "\(home.path)/errors.\(name)"))
            #expect(errors.isEmpty, "\(name): \(errors.count) bytes on standard error")
        }
    }

    @Test("while a secret is being stored, the program can write no core dump")
    func limit() throws {
        let home = try Home()
        let ending = try home.shell(
            """
            ulimit -c unlimited 2> ignored || :
            mkfifo pipe
            ld-host set keychain:service/k --stdin < pipe & pid=$!
            exec 3> pipe
            head -c 200000 /dev/zero >&3
            grep '^Max core file size' /proc/$pid/limits | tr -s ' '
            # Of a process that has no dumps and that nobody may look into, the files belong to root.
            stat -c %u /proc/$pid/environ
            exec 3>&-
            wait $pid
            """)
        #expect(ending.status == 0, "\(ending.errors)")
        #expect(ending.text == "Max core file size 0 0 bytes \n0\n")
    }
}
