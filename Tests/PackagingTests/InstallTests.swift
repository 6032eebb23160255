import FoundationEssentials
import Glibc
import LocalDataHost
import TestSupport
import Testing

/// What `make install` and `make uninstall` do to a folder that has other files, too.
@Suite("Installing")
struct InstallTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    @discardableResult
    private func sh(
        _ script: String, _ variables: [String: String] = [:]
    ) throws -> (status: Int32, text: String) {
        let environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        let put = "put=\(Repository.root)/.ci/packaging/put"
        let end = try ChildProcess(
            "/bin/sh", arguments: ["-c", "cd \(scratch.path); \(put); { \(script); } 2>&1"], environment: environment
        ).run(deadline: .seconds(300))
        guard case .exited(let status) = end.outcome else { return (-1, end.errorText) }
        return (status, String(decoding: end.output, as: UTF8.self))
    }

    @Test("notes what it puts where, and removing takes away exactly that")
    func removing() throws {
        let files = "find to | sort"
        try sh("mkdir -p from/bin from/lib/localdata from/share/new to/bin to/lib; echo mine > to/bin/mine")
        try sh("echo a > from/bin/a; ln -s a from/bin/link; echo b > from/lib/localdata/b; echo c > from/share/new/c")
        let before = try sh(files).text
        #expect(try sh("chmod 755 from/bin/a; $put from to") == (0, ""))
        #expect(try sh("cat to/bin/link; stat -c %a to/bin/a").text == "a\n755\n")
        // A later version has a file less, and somebody has put one into a new folder.
        #expect(try sh("rm from/bin/link; $put from to; ls to/bin") == (0, "a\nmine\n"))
        try sh("echo d > to/share/new/d")
        #expect(try sh("$put --remove to") == (0, ""))
        #expect(try sh("cat to/share/new/d; rm -r to/share") == (0, "d\n"))
        #expect(try sh(files).text == before)
        let again = try sh("$put --remove to")
        #expect(again == (1, "error: nothing is noted as installed in 'to'\n"))
    }

    @Test("brings everything, says what to add to PATH, and takes everything away")
    func whole() throws {
        // A compiler that has built everything before.
        try Data(
            """
            #!/bin/sh
            case $1 in -print-target-info) exec swift "$@" ;; esac
            echo "warning: x: prohibited flag(s): -pthread"

            """.utf8
        ).write(to: URL(filePath: "\(scratch.path)/stub"))
        try sh("chmod 755 stub; mkdir scratch; ln -s \(BuiltProducts.folder) scratch/release")
        let variables = [
            "SWIFT": "\(scratch.path)/stub", "SCRATCH": "\(scratch.path)/scratch", "PREFIX": "\(scratch.path)/prefix",
        ]
        let install = "\(Repository.root)/.ci/packaging/install"
        let installed = try sh(install, variables)
        let bin = "\(scratch.path)/prefix/bin"
        #expect(
            installed == (
                0,
                "installed in \(scratch.path)/prefix\nso that a shell finds the programs, add to ~/.profile: "
                    + "PATH=\"\(bin):$PATH\"\n"
            ))
        let again = try sh("PATH=\(bin):$PATH \(install)", variables)
        #expect(again == (0, "installed in \(scratch.path)/prefix\n"))
        #expect(try sh("ls prefix/share/zsh/*/_ld-host").text == "prefix/share/zsh/site-functions/_ld-host\n")
        let version = try sh("prefix/bin/git-credential-localdata --help > /dev/null; prefix/bin/ld-host --version")
        #expect(version.text.hasPrefix("ld-host \(HostVersion.current)"), "\(version.text)")
        try service()
        #expect(try sh("make -s -C \(Repository.root) uninstall PREFIX=$PWD/prefix DESTDIR=; ls -A prefix") == (0, ""))
    }

    /// The unit is one that systemd takes, and starts the program that lies beside it.
    private func service() throws {
        let unit = "prefix/lib/systemd/user/localdata-sync.service"
        let verified = try sh("XDG_RUNTIME_DIR=$PWD HOME=$PWD systemd-analyze verify --user \(unit)")
        #expect(verified == (0, ""))
        let script = "eval \"$(sed -n 's,^ExecStart=%Y,prefix/lib/systemd/user,p' \(unit))\""
        let started = try sh("\(script)", ["HOME": scratch.path, "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": ""])
        #expect(started.text.contains("no sync transport is configured"), "\(started.text)")
    }
}
