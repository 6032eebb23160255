import FoundationEssentials
import Glibc
import LocalDataHost
import TestSupport
import Testing

@Suite(
    "Homes on file systems with others' habits",
    .enabled(if: Users.areAvailable && access("/dev/fuse", R_OK) == 0), .timeLimit(.minutes(90)))
struct HabitsAsRootTests {
    /// What may be said of a home where something is refused.
    private static let causes = [
        "the file system of '", "read-only file system", "is mounted noexec", "gives new files", "is writable by",
        "can be written by", "is owned by uid", "file name too long", "the file system forbids", "no locks",
        "belongs to user",
    ]

    @Test("each command works, or is refused before the first value, with the cause", arguments: HabitCell.wanted)
    func cell(_ cell: HabitCell) throws {
        let users = try Users()
        let mounted = "\(users.folder)/mounted"
        try users.makeFolder(mounted, 0o755, users.first)
        let programs = "\(Repository.root)/Tests/CommandLineTests/Programs"
        let owner = cell.runner == .root ? (0, 0) : (users.first.number, users.first.group)
        let start = try ChildProcess(
            "/usr/bin/python3",
            arguments: ["\(programs)/habits.py", mounted, cell.habits.joined(separator: ",")]
                + [owner.0, owner.1].map(String.init) + [String(cell.mode, radix: 8)],
            environment: ["PATH": "/usr/bin:/bin"]
        ).run(deadline: .seconds(60))
        try #require(start.outcome == .exited(code: 0), "\(start.errorText)")
        defer { umount2(mounted, Int32(MNT_DETACH)) }
        let home = "\(mounted)/home"
        let script = "\(users.folder)/habits.sh"
        let text = try #require(FileManager.default.contents(atPath: "\(programs)/habits.sh"))
        try users.makeFile(script, text, 0o644, users.first)
        let completion = try ChildProcess(
            "/usr/bin/env", arguments: ["--chdir=/"] + cell.command(users.first) + ["/bin/sh", script],
            environment: users.first.environment.merging(
                ["HOME": home, "MASK": cell.umask, "PRODUCTS": Users.products]) { $1 }
        ).run(deadline: .seconds(300))
        #expect(completion.outcome == .exited(code: 0), "\(completion.errorText)")
        if let problem = problem(in: String(decoding: completion.output, as: UTF8.self)) { Issue.record("\(problem)") }
        try expectNothingReadable(below: home, cell.habits)
    }

    @Test("names of 143 bytes are enough for all keys, also of capitals and beside files of the user's")
    func names() throws {
        let users = try Users()
        let mounted = "\(users.folder)/mounted"
        try users.makeFolder(mounted, 0o755, users.first)
        let start = try ChildProcess(
            "/usr/bin/python3",
            arguments: [
                "\(Repository.root)/Tests/CommandLineTests/Programs/habits.py", mounted, "names143", "0", "0", "700",
            ], environment: ["PATH": "/usr/bin:/bin"]
        ).run(deadline: .seconds(60))
        try #require(start.outcome == .exited(code: 0), "\(start.errorText)")
        defer { umount2(mounted, Int32(MNT_DETACH)) }
        let environment = ["HOME": "\(mounted)/home", "PATH": "/usr/bin:/bin", "LOCALDATA_PLUGIN_PATH": Users.products]
        let store = ["-c", "domains.userDefaults=file", "-c", "domains.custom=file"]
        func run(_ words: String...) throws -> String {
            let ending = try ChildProcess(
                "\(Users.products)/ld-host", arguments: store + words, environment: environment
            ).run(deadline: .seconds(60))
            #expect(ending.outcome == .exited(code: 0), "\(words): \(ending.errorText)")
            return String(decoding: ending.output, as: UTF8.self)
        }
        let lengths = [1, 47, 48, 49, 86, 120, 300, 1000]
        let names = lengths.map { String(repeating: "A", count: $0) } + [String(repeating: "a", count: 144)]
        let scope = String(repeating: "S", count: 100)
        for name in names {
            for address in ["userDefaults/\(name)", "custom:\(scope)/\(name)"] {
                _ = try run("set", address, name)
                _ = try run("set", address, "again")
                #expect(try run("get", address) == "again")
            }
        }
        #expect(try Set(run("ls", "userDefaults").split(separator: "\n")) == Set(names.map { "userDefaults/\($0)" }))
        #expect(try run("ls", "custom").split(separator: "\n").count == names.count)
        // A file beside which a temporary one has a name of its own.
        let backup = "\(mounted)/home/" + String(repeating: "b", count: 140)
        let saving = try ChildProcess(
            "/bin/sh", arguments: ["-c", "printf word | \(Users.products)/ld-host backup \(backup) --passphrase-fd 0"],
            environment: environment
        ).run(deadline: .seconds(60))
        #expect(saving.outcome == .exited(code: 0), "\(saving.errorText)")
        for name in names { _ = try run("rm", "userDefaults/\(name)") }
        #expect(try run("ls", "userDefaults").isEmpty)
    }

    /// What came of the first operation that neither worked nor named its cause; `nil` if all did.
    private func problem(in output: String) -> String? {
        var stored: Set<Substring> = []
        let lines = output.split(separator: "\n")
        guard lines.count == 34 else { return "\(lines.count) lines: \(output)" }
        for line in lines {
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard parts.count == 3 else { return "\(line)" }
            let (operation, isDone, text) = (parts[0], parts[1] == "done", parts[2])
            let words = operation.split(separator: " ", maxSplits: 1)
            let address = words.count > 1 ? words[1] : words[0]
            if operation == "batch" || words[0] == "set", isDone { stored.insert(address) }
            let isFine: Bool
            if words[0] == "get", stored.contains(address) {
                // What was accepted can be read.
                let name = address.split(separator: "/").last ?? ""
                isFine = isDone && text == (operation == "get batch" ? "\"1\"\"1\"" : "s3cret \(name)")
            } else if words[0] == "get" {
                isFine = operation == "get batch" || !isDone
            } else {
                let isConsequence = operation == "restore" && !stored.contains("fileSystem/note")
                isFine = isDone || isConsequence || Self.causes.contains { text.lowercased().contains($0) }
            }
            if !isFine { return "\(line)" }
        }
        return nil
    }

    /// No other user can read a value or a key, nor put a file where the configuration and the data are.
    private func expectNothingReadable(below folder: String, _ habits: [String]) throws {
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            var status = stat()
            let path = "\(folder)/\(name)"
            let isFolder = lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            if name.hasPrefix("."), isFolder, !habits.contains("mode777") {
                #expect(status.st_mode & 0o022 == 0, "\(name)")
            }
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0,
                let content = FileManager.default.contents(atPath: path)
            else { continue }
            let isKey = name.hasSuffix(".key") && !content.isEmpty
            #expect(!isKey && content.firstRange(of: Data("s3cret".utf8)) == nil, "\(name)")
        }
    }
}
