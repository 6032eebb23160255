import Glibc
import LocalDataAPI
import LocalDataHost
import Testing

@Suite("ChildProcess")
struct ChildProcessTests {
    private static let environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C"]
    /// Far more than any program here needs, far less than a program that hangs would take.
    private static let ample = Duration.seconds(30)

    private static func shell(_ command: String, usesPidfd: Bool = true, input: [UInt8]? = nil) -> ChildProcess {
        ChildProcess(
            "/bin/sh", arguments: ["-c", command], environment: environment, input: input, usesPidfd: usesPidfd)
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Whether a process, which is not a child of this one, ends soon. Until its new parent reaps it, it is still
    /// listed, as a zombie.
    private static func ends(_ pid: pid_t) throws -> Bool {
        let end = SuspendingClock.now.advanced(by: .seconds(10))
        while SuspendingClock.now < end {
            let descriptor = open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC)
            if descriptor < 0 { return true }
            defer { close(descriptor) }
            let bytes = [UInt8](unsafeUninitializedCapacity: 4096) {
                $1 = max(0, read(descriptor, $0.baseAddress, 4096))
            }
            // The state follows the name, which is in parentheses.
            let state = text(bytes).split(separator: ") ").last?.first
            if bytes.isEmpty || state == "Z" || state == "X" { return true }
            sched_yield()
        }
        return false
    }

    /// The process ids that a program printed.
    private static func numbers(_ completion: ChildProcess.Completion) -> [pid_t] {
        text(completion.output).split(whereSeparator: \.isWhitespace).compactMap { pid_t($0) }
    }

    @Test("the result of a program that exits has its code and its output", arguments: [0, 1, 255], [true, false])
    func exits(code: Int, usesPidfd: Bool) throws {
        let command = "printf out; printf err >&2; exit \(code)"
        let completion = try Self.shell(command, usesPidfd: usesPidfd).run(deadline: Self.ample)
        #expect(completion.outcome == .exited(code: Int32(code)))
        #expect(completion.outcome.description == "exited with code \(code)")
        #expect(Self.text(completion.output) == "out")
        #expect(completion.errorText == "err")
        #expect(!completion.isOutputTruncated)
    }

    @Test(
        "the result of a program that a signal ends has the signal's name",
        arguments: [(signal: SIGABRT, name: "SIGABRT"), (SIGSEGV, "SIGSEGV"), (SIGKILL, "SIGKILL"), (40, "SIGRTMIN+6")])
    func signals(signal: Int32, name: String) throws {
        let completion = try Self.shell("printf out; kill -\(signal) $$").run(deadline: Self.ample)
        #expect(completion.outcome == .signalled(signal, name: name))
        #expect(completion.outcome.description == "was ended by signal \(signal) (\(name))")
        #expect(Self.text(completion.output) == "out")
    }

    @Test("the result of a program that aborts in a constructor says that it aborted")
    func constructor() throws {
        try PluginScratch.with { scratch in
            let source = """
                #include <stdio.h>
                #include <stdlib.h>
                __attribute__((constructor)) static void start(void) {
                    fputs("about to abort", stderr);
                    abort();
                }
                int main(void) { return 0; }
                """
            let path = try scratch.compile(source, to: "aborts", [])
            try #require(chmod(path, 0o755) == 0)
            let completion = try ChildProcess(path).run(deadline: Self.ample)
            #expect(completion.outcome == .signalled(SIGABRT, name: "SIGABRT"))
            #expect(completion.errorText == "about to abort")
        }
    }

    @Test("a program that does not end in time is killed, even if it ignores SIGTERM", arguments: [true, false])
    func timesOut(usesPidfd: Bool) throws {
        let command = "trap '' TERM INT HUP; sleep 60 & echo $$ $!; while :; do sleep 60; done"
        let start = SuspendingClock.now
        let completion = try Self.shell(command, usesPidfd: usesPidfd).run(deadline: .seconds(1))
        let taken = SuspendingClock.now - start
        #expect(completion.outcome == .timedOut(after: .seconds(1)))
        #expect(completion.outcome.description == "did not end within 1.0 seconds")
        #expect(taken >= .seconds(1))
        #expect(taken < .seconds(10))
        let pids = Self.numbers(completion)
        try #require(pids.count == 2)
        #expect(kill(pids[0], 0) == -1 && errno == ESRCH, "it is reaped")
        #expect(try Self.ends(pids[1]), "its child ends too")
    }

    @Test(
        "a stopped program and one that closed its output are killed in time too",
        arguments: ["kill -STOP $$", "exec >&- 2>&-; exec sleep 60"])
    func silent(command: String) throws {
        let completion = try Self.shell(command).run(deadline: .milliseconds(200))
        #expect(completion.outcome == .timedOut(after: .milliseconds(200)))
    }

    @Test("a past deadline kills at once, and a very long one does not overflow")
    func extremes() throws {
        #expect(try Self.shell("sleep 60").run(deadline: .seconds(-1)).outcome == .timedOut(after: .seconds(-1)))
        #expect(try Self.shell("exit 3").run(deadline: .seconds(Int64.max)).outcome == .exited(code: 3))
    }

    @Test("a program that writes without end is killed in time, with the first bytes kept")
    func endless() throws {
        let program = ChildProcess(
            "/bin/sh", arguments: ["-c", "exec yes"], environment: Self.environment, outputLimit: 1000)
        let completion = try program.run(deadline: .seconds(1))
        #expect(completion.outcome == .timedOut(after: .seconds(1)))
        #expect(completion.output == Array(String(repeating: "y\n", count: 500).utf8))
        #expect(completion.isOutputTruncated)
    }

    @Test("a descendant that keeps the output open does not hold up the end, and is killed", arguments: [true, false])
    func grandchild(usesPidfd: Bool) throws {
        let start = SuspendingClock.now
        let command = "sleep 60 & echo $!"
        let completion = try Self.shell(command, usesPidfd: usesPidfd).run(deadline: Self.ample)
        #expect(completion.outcome == .exited(code: 0))
        #expect(SuspendingClock.now - start < .seconds(10))
        let pids = Self.numbers(completion)
        try #require(pids.count == 1)
        #expect(try Self.ends(pids[0]))
    }

    @Test("a descendant that left the group and writes forever does not hold up the end either")
    func escaped() throws {
        try PluginScratch.with { scratch in
            // The shell ends once its descendant has left the group and printed its id, and is about to write.
            let fifo = scratch.path + "/fifo"
            try #require(mkfifo(fifo, 0o600) == 0)
            let escape = "setsid sh -c 'echo $$ >\(fifo); exec yes' & read -r pid <\(fifo); echo $pid >&2; exit 5"
            let start = SuspendingClock.now
            let completion = try Self.shell(escape).run(deadline: Self.ample)
            #expect(SuspendingClock.now - start < .seconds(10))
            #expect(completion.outcome == .exited(code: 5))
            let pid = try #require(pid_t(completion.errorText.dropLast()))
            // SIGPIPE has ended it or will, since the pipe's reader is gone.
            if kill(pid, SIGKILL) != 0 { #expect(errno == ESRCH) }
        }
    }

    @Test("several programs run at the same time, and one that cannot be started does not block the others")
    func several() throws {
        try PluginScratch.with { scratch in
            let fifo = scratch.path + "/fifo"
            try #require(mkfifo(fifo, 0o600) == 0)
            // The first program ends only if the last one runs at the same time.
            let programs = [
                Self.shell("head -c 30000 /dev/zero; read -r line <\(fifo); exit $line"),
                ChildProcess("/nowhere"), Self.shell("echo 7 >\(fifo); exit 3"),
            ]
            let ends = ChildProcess.run(programs[...]) { _ in Self.ample }
            try #require(ends.count == 3)
            #expect(try ends[0].get().outcome == .exited(code: 7) && ends[0].get().output.count == 30_000)
            #expect(try PluginScratch.refusal { try ends[1].get() }.code == .pluginRefused)
            #expect(try ends[2].get().outcome == .exited(code: 3))
        }
    }

    @Test("output larger than the pipe arrives whole, on both streams at once")
    func large() throws {
        let command = "head -c 3000000 /dev/zero; head -c 50000 /dev/zero >&2; head -c 3000000 /dev/zero; printf end"
        let completion = try Self.shell(command).run(deadline: Self.ample)
        #expect(completion.outcome == .exited(code: 0))
        #expect(completion.output.count == 6_000_003)
        #expect(Self.text(Array(completion.output.suffix(4))) == "\0end")
        #expect(completion.errorTail.count == 50000)
        #expect(!completion.isOutputTruncated)
    }

    @Test("of standard output the first bytes are kept and of standard error the last, up to the limits")
    func limits() throws {
        let command =
            "printf first; head -c 9000000 /dev/zero; printf x >&2; head -c 900000 /dev/zero >&2; printf last >&2"
        let completion = try Self.shell(command).run(deadline: Self.ample)
        #expect(completion.outcome == .exited(code: 0))
        #expect(completion.output.count == 8 << 20)
        #expect(completion.output.starts(with: "first".utf8))
        #expect(completion.isOutputTruncated)
        #expect(completion.errorTail.count == 64 << 10)
        #expect(completion.errorText.hasSuffix("\0last"))
        #expect(!completion.errorText.contains("x"))
    }

    @Test("output exactly at the limit does not count as truncated")
    func exactLimit() throws {
        for (limit, isTruncated) in [(10, false), (9, true), (0, true)] {
            let program = ChildProcess("/usr/bin/printf", arguments: ["0123456789"], outputLimit: limit)
            let completion = try program.run(deadline: Self.ample)
            #expect(Self.text(completion.output) == String("0123456789".prefix(limit)))
            #expect(completion.isOutputTruncated == isTruncated)
        }
    }

    @Test("a cut through a character of standard error does not garble the rest")
    func cutCharacter() throws {
        let program = ChildProcess(
            "/bin/sh", arguments: ["-c", "printf '\\303\\244\\303\\244b' >&2"], environment: Self.environment,
            errorLimit: 4)
        #expect(try program.run(deadline: Self.ample).errorText == "äb")
    }
}
