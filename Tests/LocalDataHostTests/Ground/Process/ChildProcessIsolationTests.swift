import Glibc
import LocalDataAPI
import LocalDataHost
import Testing

@Suite("ChildProcess: the program's inputs")
struct ChildProcessIsolationTests {
    private static let environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C"]
    private static let ample = Duration.seconds(30)

    private static func output(
        _ command: String, environment: [String: String] = environment, input: [UInt8]? = nil
    ) throws -> String {
        let program = ChildProcess("/bin/sh", arguments: ["-c", command], environment: environment, input: input)
        let completion = try program.run(deadline: ample)
        #expect(completion.outcome == .exited(code: 0), "\(completion.errorText)")
        return String(decoding: completion.output, as: UTF8.self)
    }

    @Test("arguments arrive unchanged, the program's own name first")
    func arguments() throws {
        let arguments = ["-c", "printf '[%s]' \"$0\" \"$@\"", "", "two words", "*", "$HOME", "ä\n"]
        let completion = try ChildProcess("/bin/sh", arguments: arguments).run(deadline: Self.ample)
        #expect(String(decoding: completion.output, as: UTF8.self) == "[][two words][*][$HOME][ä\n]")
        let name = try ChildProcess("/bin/cat", arguments: ["/proc/self/cmdline"]).run(deadline: Self.ample)
        #expect(String(decoding: name.output, as: UTF8.self) == "/bin/cat\0/proc/self/cmdline\0")
    }

    @Test("the environment has the given variables only")
    func environment() throws {
        let given = ["ONE": "1", "EMPTY": "", "EQUALS": "a=b"]
        let completion = try ChildProcess("/usr/bin/env", environment: given).run(deadline: Self.ample)
        #expect(String(decoding: completion.output, as: UTF8.self) == "EMPTY=\nEQUALS=a=b\nONE=1\n")
        #expect(try ChildProcess("/usr/bin/env").run(deadline: Self.ample).output.isEmpty)
    }

    @Test("standard input is empty unless bytes are given")
    func noInput() throws {
        #expect(try Self.output("readlink /proc/self/fd/0; cat") == "/dev/null\n")
    }

    @Test("given bytes arrive, even more than a pipe holds", arguments: [0, 5, 3_000_000])
    func input(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let completion = try ChildProcess("/bin/cat", input: bytes).run(deadline: Self.ample)
        #expect(completion.output == bytes)
    }

    @Test("a program that does not read its input does not end the host by SIGPIPE")
    func unreadInput() throws {
        let bytes = [UInt8](repeating: 1, count: 1_000_000)
        #expect(try Self.output("exec <&-; printf done", input: bytes) == "done")
    }

    @Test("no descriptor but the standard ones is inherited")
    func descriptors() throws {
        // The descriptor has no close-on-exec flag, and a high number.
        let open = fcntl(STDERR_FILENO, F_DUPFD, 700)
        try #require(open >= 700)
        defer { close(open) }
        // The fourth is the descriptor with which ls reads the folder.
        #expect(try Self.output("exec ls /proc/self/fd") == "0\n1\n2\n3\n")
        #expect(try Self.output("exec ls /proc/self/fd", input: [1, 2, 3]) == "0\n1\n2\n3\n")
    }

    @Test("signals are neither blocked nor ignored, whatever the host does")
    func signalState() throws {
        var blocked = sigset_t()
        var before = sigset_t()
        sigemptyset(&blocked)
        sigaddset(&blocked, SIGUSR1)
        try #require(pthread_sigmask(SIG_BLOCK, &blocked, &before) == 0)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        // A signal disposition applies to the whole process; nothing else here uses this signal.
        let disposition = signal(SIGUSR2, SIG_IGN)
        defer { _ = signal(SIGUSR2, disposition) }
        let state = try Self.output("exec sed -n 's/^Sig[BI][lg][kn]:[[:space:]]*//p' /proc/self/status")
        let sets = state.split(separator: "\n").compactMap { UInt64($0, radix: 16) }
        try #require(sets.count == 2)
        // glibc itself leaves 32 and 33 ignored, which its threads use and no program can (nptl(7)).
        let internals: UInt64 = 1 << 31 | 1 << 32
        #expect(sets.map { String($0 & ~internals, radix: 16) } == ["0", "0"])
    }

    @Test("the program leads a process group of its own")
    func group() throws {
        let fields = try Self.output("echo $$; exec cut -d ' ' -f 5 /proc/self/stat").split(separator: "\n")
        #expect(fields.count == 2)
        #expect(fields.first == fields.last)
        #expect(fields.first != "\(getpgrp())")
    }

    @Test(
        "no zombie is left behind, however a program ends",
        arguments: [("exit 0", ample), ("kill -9 $$", ample), ("sleep 60", Duration.seconds(1))])
    func noZombie(command: String, deadline: Duration) throws {
        let program = ChildProcess("/bin/sh", arguments: ["-c", "echo $$; \(command)"], environment: Self.environment)
        let completion = try program.run(deadline: deadline)
        let pid = try #require(pid_t(String(decoding: completion.output.dropLast(), as: UTF8.self)))
        var status: Int32 = 0
        #expect(waitpid(pid, &status, WNOHANG) == -1 && errno == ECHILD)
    }

    // In a process of its own: other tests open and close files meanwhile.
    @Test("no descriptor is left behind, even when a program cannot be started")
    func noDescriptor() async {
        await #expect(processExitsWith: .success) {
            func count() -> Int { (0..<4096).count { fcntl($0, F_GETFD) >= 0 } }
            func start() throws {
                _ = try ChildProcess("/bin/true", input: [1]).run(deadline: Self.ample)
                _ = try PluginScratch.refusal { try ChildProcess("/nowhere", input: [1]).run(deadline: Self.ample) }
            }
            try start()
            let before = count()
            for _ in 0..<100 { try start() }
            #expect(count() == before)
        }
    }

    @Test("signals that interrupt the waiting thread change nothing", arguments: [true, false])
    func interrupted(usesPidfd: Bool) throws {
        try PluginScratch.with { scratch in
            let fifo = scratch.path + "/fifo"
            try #require(mkfifo(fifo, 0o600) == 0)
            let command = "head -c 2000000 /dev/zero; read -r line <\(fifo); exit 4"
            let program = ChildProcess(
                "/bin/sh", arguments: ["-c", command], environment: Self.environment, usesPidfd: usesPidfd)
            let completion = try ThreadInterrupter.interrupting(until: fifo) { try program.run(deadline: Self.ample) }
            #expect(completion.outcome == .exited(code: 4))
            #expect(completion.output.count == 2_000_000)
        }
    }

    @Test(
        "a program that cannot be started is an error that names it",
        arguments: [
            (path: "/nowhere/program", text: "No such file or directory"), ("/tmp", "Permission denied"),
            ("/etc/passwd", "Permission denied"), ("", "No such file or directory"),
        ])
    func unstartable(path: String, text: String) throws {
        let error = try PluginScratch.refusal { try ChildProcess(path).run(deadline: Self.ample) }
        #expect(error.message == "program \(path) cannot be started: \(text)")
        #expect(!error.hint.isEmpty)
    }

    @Test("a file that is not a program, and a script without its interpreter, are errors")
    func notPrograms() throws {
        try PluginScratch.with { scratch in
            let cases = [("", "Exec format error"), ("#!/nowhere/sh\n", "No such file or directory")]
            for (content, text) in cases {
                let path = try scratch.file("program", Array(content.utf8))
                try #require(chmod(path, 0o755) == 0)
                let error = try PluginScratch.refusal { try ChildProcess(path).run(deadline: Self.ample) }
                #expect(error.message == "program \(path) cannot be started: \(text)")
            }
        }
    }

    @Test("a NUL byte in an argument or a variable is refused, not cut off")
    func nul() throws {
        let programs = [
            ChildProcess("/bin/true", arguments: ["a\0b"]), ChildProcess("/bin/true", environment: ["A": "a\0b"]),
            ChildProcess("/bin/true\0x"),
        ]
        for program in programs {
            let error = try PluginScratch.refusal { try program.run(deadline: Self.ample) }
            #expect(error.message.contains("holds a NUL byte"))
        }
    }
}
