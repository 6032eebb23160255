import FoundationEssentials
import Glibc
import LocalDataHost
import Testing

@Suite("A process that was stopped while it held the locks")
struct StoppedHolderTests {
    @Test("does not block a look at the state, and a change fails after a while and names the process")
    func stopped() throws {
        let home = try Home()
        try home.done("set", "encryptedFileSystem/secret", "--stdin", input: Array("old".utf8))
        let before = try home.run("doctor").text
        let ending = try home.shell(
            """
            python3 - >ready <<'END' &
            import fcntl, glob, os, signal
            kept = [open(name, "r+") for name in glob.glob("state/localdata/**/*.lock*", recursive=True)]
            kept.append(open("config/localdata/config.json.lock", "w"))
            for file in kept: fcntl.flock(file, fcntl.LOCK_EX)
            print(len(kept), flush=True)
            os.kill(os.getpid(), signal.SIGSTOP)
            END
            holder=$!
            trap 'kill -KILL $holder' EXIT
            until grep -q '^State:.T' /proc/$holder/status; do :; done
            ld-host doctor >doctor; ld-host keys list >keys && ld-host migrate status >status || echo "a look failed"
            ld-host get encryptedFileSystem/secret && echo
            printf new | ld-host set encryptedFileSystem/secret --stdin 2>set.text & set=$!
            ld-host config set log.level info 2>config.text & config=$!
            wait $set; echo $?; wait $config; echo $?
            echo $holder
            """, adding: ["LC_ALL": "C", "LOCALDATA_PROGRESS_DELAY": ""])
        let lines = ending.text.split(separator: "\n").map(String.init)
        try #require(lines.count == 4, "\(ending)")
        #expect(lines[..<3] == ["old", "2", "2"])
        #expect(try String(contentsOfFile: "\(home.path)/doctor", encoding: .utf8) == before)
        let holder = "process \(lines[3]) ('python3', user \(geteuid()))"
        for name in ["set", "config"] {
            let text = try String(contentsOfFile: "\(home.path)/\(name).text", encoding: .utf8)
            let report = text.split(separator: "\n")
            try #require(report.count == 3, "\(text)")
            let lock = "the lock '\(home.path)/"
            #expect(report[0].hasPrefix("ld-host: waiting for \(holder), which holds \(lock)"), "\(text)")
            #expect(report[1].hasPrefix("ld-host: error: \(holder), which is stopped, holds \(lock)"), "\(text)")
            #expect(report[2].hasPrefix("ld-host: hint: "), "\(text)")
        }
    }
}
