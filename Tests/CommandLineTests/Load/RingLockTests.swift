import FoundationEssentials
import Glibc
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("The lock of a key ring between processes", .timeLimit(.minutes(10)))
struct RingLockTests {
    private static let requests = TestRun.isTorture ? 20_000 : 150

    /// The frames of requests that set eight values again and again.
    private func frames(_ name: String) -> Data {
        Data(
            (1...Self.requests).flatMap { number in
                PipeExchange.frame(
                    #"{"id":\#(number),"op":"set","domain":"encryptedFileSystem","name":"\#(name)\#(number % 8)"}"#,
                    Array("value \(number)".utf8))
            })
    }

    @Test("processes that write all the time use no retired key, and never starve a rotation or a reseal")
    func writers() throws {
        let home = try Home()
        for name in ["a", "b"] { try frames(name).write(to: URL(filePath: "\(home.path)/frames.\(name)")) }
        let ending = try home.shell(
            """
            for name in a b; do
                printf first | ld-host set encryptedFileSystem/first.$name --stdin
                (ld-host pipe < frames.$name > answers.$name || echo failed writer; touch done.$name) & others="$others $!"
            done
            while ! test -e done.a || ! test -e done.b; do
                ld-host keys rotate > out || echo failed rotation
                ld-host reseal > out || echo failed reseal
                for key in $(ld-host keys list | grep -v ' active ' | cut -d' ' -f1); do
                    ld-host keys retire $key && echo >> retired || echo failed to retire
                done
            done
            wait $others
            ld-host keys list | wc -l
            for name in a b; do
                grep -a -o '"error"' answers.$name
                grep -a -o '"id":' answers.$name | wc -l
                for i in 0 1 2 3 4 5 6 7; do
                    ld-host get encryptedFileSystem/$name$i | grep -q '^value [0-9]*$' || echo lost
                done
            done
            test $(wc -l < retired) -gt 0 || echo nothing was retired
            """)
        #expect(ending.errors == "")
        #expect(ending.text == "1\n\(Self.requests)\n\(Self.requests)\n")
    }

    @Test("a process that waits for a stopped one names it and gives up; the stopped one finishes later")
    func stopped() throws {
        let home = try Home()
        let starting = try home.shell(
            """
            printf first | ld-host set encryptedFileSystem/k --stdin
            mkfifo pipe
            # In a session of its own, as what is left of this shell's group is ended with it.
            setsid ld-host set encryptedFileSystem/large --file pipe > out 2> errors & echo $! > writer
            exec 3> pipe
            # More than the program reads before it seals, and than the pipe takes.
            head -c 3000000 /dev/zero >&3
            kill -STOP $(cat writer)
            """)
        #expect(starting.status == 0 && starting.errors == "")
        let text = try String(contentsOfFile: "\(home.path)/writer", encoding: .utf8)
        let writer = try #require(pid_t(text.trimmingPrefix(" ").prefix { $0.isNumber }))
        defer { kill(writer, SIGKILL) }
        let locks = try home.shell("ls state/localdata/rings/ring-*.lock").text.split(separator: "\n")
            .map { "\(home.path)/\($0)" }
        #expect(locks.count == 2, "the master ring's, and that of the store that keeps it")
        var held: [String] = []
        for lock in locks {
            do throws(StorageError) {
                try FairLock(lock, patience: .milliseconds(100)).exclusive { (_) throws(StorageError) in }
            } catch {
                #expect(error.code == .busy && error.message.contains("process \(writer) "), "\(error)")
                held.append(lock)
            }
        }
        try #require(held.count == 1)
        // Others can share the lock with it meanwhile, although a process has waited for it exclusively.
        try home.done("set", "encryptedFileSystem/other", "--stdin", input: Array("x".utf8))
        #expect(kill(writer, SIGCONT) == 0)
        try FairLock(held[0], patience: .seconds(300)).exclusive { (_) throws(StorageError) in }
        let ending = try home.shell(
            "ld-host get encryptedFileSystem/large | wc -c; ld-host keys rotate > out")
        #expect(ending.text == "3000000\n" && ending.errors == "")
    }
}
