import FoundationEssentials
import TestSupport
import Testing

@Suite("ld-host migrate", .timeLimit(.minutes(5)))
struct MigrateCommandTests {
    private static let move =
        #"{"id": "theme to files", "move": {"from": "userDefaults/theme", "to": "fileSystem/theme"}}"#

    /// All files of values, ledgers and the journal, except those that SQLite has while a database is open.
    private func files(_ home: Home) throws -> String {
        try home.shell(
            "find data state -type f -size +0 ! -name '*-shm' ! -name '*-wal' | sort | xargs -r sha256sum"
        ).text
    }

    @Test("a plan changes nothing, a run does what it says, and a second run has nothing to do")
    func planAndRun() throws {
        let home = try Home(steps: Self.move)
        try home.done("set", "userDefaults/theme", "dark")
        let before = try files(home)
        let plan = try home.done("migrate", "plan").text
        #expect(plan.hasPrefix("run  theme to files\n"))
        #expect(plan.contains("/theme  not read  4 bytes\n") && plan.contains("/theme          4 bytes   removed\n"))
        #expect(!plan.contains("dark"))
        #expect(try files(home) == before)
        #expect(try home.done("migrate", "run").text == "theme to files: migrated\n")
        #expect(try home.done("get", "fileSystem/theme").text == "dark")
        #expect(try home.run("exists", "userDefaults/theme").status == 1)
        #expect(try home.done("migrate", "run").text == "theme to files: nothing to do\n")
        #expect(try home.done("migrate", "status").text.hasPrefix("theme to files: done\n"))
        #expect(try home.done("migrate", "history").text.contains("theme to files  revision 1  done"))
        try home.done("migrate", "rollback", "theme to files")
        #expect(try home.done("get", "userDefaults/theme").text == "dark")
        #expect(try home.done("migrate", "status").text.hasPrefix("theme to files: rolled back\n"))
        try home.done("migrate", "run", "--only", "theme to files")
        try home.done("migrate", "confirm", "theme to files")
        #expect(try home.run("migrate", "rollback", "theme to files").status == 2)
    }

    @Test("status ends with 2 as long as there is something to do, and with 0 after that")
    func pending() throws {
        let home = try Home(steps: Self.move)
        #expect(try home.done("migrate", "status").text.hasPrefix("theme to files: not run\n"))
        try home.done("set", "userDefaults/theme", "dark")
        let status = try home.run("migrate", "status")
        #expect(status.status == 2 && status.text.contains("  a run would migrate data; see: ld-host migrate plan\n"))
        #expect(try home.run("rm", "fileSystem/theme").status == 1)
        #expect(try home.run("get", "fileSystem/theme").status == 1)
        #expect(try home.done("migrate", "run").text == "theme to files: nothing to do\n")
        #expect(
            try home.done("migrate", "status").text.contains(
                "  older data that is no longer migrated: userDefaults/theme\n"))
        #expect(try home.done("get", "userDefaults/theme").text == "dark")
    }

    @Test("a key whose domain was changed in its catalog is in plan, status and doctor, and is moved")
    func changedDomain() throws {
        let home = try Home()
        try home.keepUserDefaultsInFiles()
        func write(_ domain: String) throws {
            let key = """
                {"address": "\(domain)/theme", "security": "none", "serializer": "json", "type": "String",
                 "owner": "com.example.app", "description": "The theme.", "availability": "all", "sync": "never"}
                """
            try Data(#"{"format": 1, "name": "App", "keys": [\#(key)]}"#.utf8).write(
                to: URL(filePath: "\(home.path)/app.catalog.json"))
        }
        try write("userDefaults")
        try home.done("config", "set", "catalogs", #"["\#(home.path)/app.catalog.json"]"#)
        try home.done("set", "userDefaults/theme", "dark")
        #expect(try home.done("migrate", "status").text == "")
        try write("fileSystem")
        #expect(try home.done("migrate", "plan").text.hasPrefix("run  moved from userDefaults/theme\n"))
        #expect(try home.run("migrate", "status").status == 2)
        let doctor = try home.run("doctor")
        #expect(doctor.status != 0 && doctor.text.contains("run: ld-host migrate run"))
        #expect(try home.done("migrate", "run").text == "moved from userDefaults/theme: migrated\n")
        #expect(try home.done("get", "fileSystem/theme").text == #""dark""#)
        try home.done("migrate", "status")
        try home.done("doctor")
    }

    @Test(
        "get brings older data; without the pack it never reports an absent value", arguments: ["get", "get --json"])
    func lazily(_ command: String) throws {
        let home = try Home(
            steps:
                """
                \(Self.move), {"id": "notes", "move": {"from": "userDefaults/note.*", "to": "fileSystem/notes.*"}}
                """)
        try home.done("set", "userDefaults/theme", "dark")
        try home.done("set", "userDefaults/note.1", "first")
        #expect(try home.shell("ld-host \(command) fileSystem/theme").text.contains("dark"))
        #expect(try home.run("exists", "userDefaults/theme").status == 1)
        #expect(try home.shell("ld-host \(command) fileSystem/notes.1").text.contains("first"))
        #expect(try home.shell("ld-host \(command) fileSystem/none").status == 1)
        _ = try home.shell("sed -i 's/\"standard\"/\"nobody\"/' config/localdata/config.json")
        #expect(try home.shell("ld-host \(command) fileSystem/theme").text.contains("dark"))
        let missing = try home.shell("ld-host \(command) fileSystem/none")
        #expect(missing.status == 2 && missing.errors.contains("the migration pack 'app'"))
    }

    @Test("a run that fails ends with status 2 and says why; the migrations that do not depend on it run")
    func failures() throws {
        let home = try Home(
            steps:
                """
                {"id": "broken", "map": {"from": "userDefaults/broken", "to": "fileSystem/broken", "fields": [{"drop": "/x"}]}},
                {"id": "after", "after": ["broken"], "default": {"key": "fileSystem/after", "value": 1}},
                \(Self.move)
                """)
        try home.done("set", "userDefaults/broken", "{")
        try home.done("set", "userDefaults/theme", "dark")
        let plan = try home.run("migrate", "plan", "--json")
        #expect(plan.status == 2 && plan.text.contains("\"decision\" : \"refused\""))
        let ending = try home.run("migrate", "run")
        #expect(ending.status == 2)
        #expect(ending.text.contains("theme to files: migrated\n") && ending.text.contains("after: failed\n"))
        #expect(ending.errors.contains("the migration 'after' was not run: it depends on 'broken', which failed"))
        #expect(try home.done("get", "userDefaults/broken").text == "{")
        #expect(try home.run("exists", "fileSystem/after").status == 1)
    }

    @Test("a removal that fails leaves the value readable, and the next run or a resume without the pack completes it")
    func pendingCleanup() throws {
        let home = try Home(steps: Self.move)
        try home.done("set", "userDefaults/theme", "dark")
        let bench = try DisturbedHome(home, ["migrate", "run"])
        let calls = try bench.calls()
        // Starts after the store's first batch, which puts the value in its location.
        let first = try #require(calls.firstIndex { $0.name.hasPrefix("unlink") && $0.path.hasSuffix("/journal") })
        var pending = 0
        for number in (first + 2)...calls.count {
            let ending = try bench.run(FaultPoint(mode: .ioError, number: number)).ending
            guard ending.text.contains("sources not yet removed") else { continue }
            #expect(ending.status == 2)
            #expect(try home.done("get", "fileSystem/theme").text == "dark", "\(number)")
            guard try home.run("exists", "userDefaults/theme").status == 0 else {
                // The removal was decided, and the next process that opened the store completed it.
                #expect(try home.done("migrate", "status").text.hasPrefix("theme to files: done\n"), "\(number)")
                continue
            }
            pending += 1
            let status = try home.run("migrate", "status")
            #expect(status.status == 2 && status.text.contains("migrated, sources not yet removed"))
            #expect(try home.run("doctor").text.contains("run: ld-host migrate resume"))
            if pending.isMultiple(of: 2) {
                #expect(try home.done("migrate", "run").text == "theme to files: sources removed\n")
            } else {
                try home.done("config", "unset", "migrations.packs.app")
                #expect(try home.done("migrate", "resume").text == "theme to files: finished\n")
            }
            #expect(try home.run("exists", "userDefaults/theme").status == 1)
            #expect(try home.done("get", "fileSystem/theme").text == "dark")
        }
        #expect(pending > 5, "of \(calls.count) calls")
    }

    @Test("a missing pack is refused by name, and its rows are reported")
    func missingPack() throws {
        let home = try Home(steps: Self.move)
        try home.done("set", "userDefaults/theme", "dark")
        try home.done("migrate", "run")
        _ = try home.shell("sed -i 's/\"standard\"/\"gone\"/' config/localdata/config.json")
        for words in [["plan"], ["run"]] {
            let ending = try home.run(BuiltProducts.host, ["migrate"] + words)
            #expect(ending.status == 2 && ending.errors.contains("'app'") && ending.errors.contains("gone"), "\(words)")
        }
        let status = try home.run("migrate", "status")
        #expect(status.status == 2 && status.text.contains("it was in the pack 'app"))
        #expect(try home.done("migrate", "history").text.contains("theme to files"))
        #expect(try home.done("get", "fileSystem/theme").text == "dark")
    }

    @Test("steps between versions follow the versions of the data and of the app")
    func versions() throws {
        func step(_ version: String, after: String? = nil) -> String {
            """
            {"id": "to \(version)", "after": [\(after.map { "\"to \($0)\"" } ?? "")], "when": {"dataVersion": "<\(version)", "appVersion": ">=\(version)"},
             "map": {"from": "userDefaults/profile",
                     "fields": [{"set": "/\(version)", "value": true}]}}
            """
        }
        let versions = ["2.0.0-alpha", "2.0.0-beta.3", "2.0.0-rc.1", "2.0.0", "3.0.0"]
        for (running, taken) in [("3.0", 5), ("2.0.0-beta.3", 2), ("2.0.0", 4)] {
            let steps = zip(versions, [nil] + versions.dropLast()).map { step($0, after: $1) }
            let home = try Home(steps: steps.joined(separator: ","))
            try home.done("set", "-c", "app.version=1.0", "userDefaults/profile", "{}")
            let version = "app.version=\(running)"
            let plan = try home.done("migrate", "plan", "-c", version).text
            #expect(plan.split(separator: "\n").count { $0.hasPrefix("run  ") } == taken, "\(plan)")
            let run = try home.done("migrate", "run", "-c", version).text
            #expect(run.split(separator: "\n").count { $0.hasSuffix(": migrated") } == taken, "\(run)")
            let again = try home.done("migrate", "run", "-c", version).text
            #expect(again.split(separator: "\n").allSatisfy { $0.hasSuffix(": nothing to do") }, "\(again)")
        }
        let home = try Home(steps: step("2.0.0"))
        try home.done("set", "userDefaults/profile", "{}")
        let ending = try home.run("migrate", "run", "-c", "app.version=3.0")
        #expect(ending.status == 2 && ending.errors.contains("ld-host config set migrations.dataVersion VERSION"))
        try home.done("migrate", "run", "-c", "app.version=3.0", "-c", "migrations.dataVersion=1.0")
    }

    @Test("a damaged page of a ledger is put aside on request")
    func repair() throws {
        let home = try Home(steps: Self.move)
        try home.done("set", "userDefaults/theme", "dark")
        try home.done("migrate", "run")
        #expect(try home.done("migrate", "ledger", "repair").text.contains("sound, 1 migration\n"))
        let damage = "page=$(find data -type f -name 'ledger*'); test -f \"$page\" && echo garbage > \"$page\""
        #expect(try home.shell(damage).status == 0)
        let before = try files(home)
        let found = try home.run("migrate", "ledger", "repair")
        #expect(found.status == 2 && found.text.contains(": damaged\n") && found.errors.contains("--apply"))
        #expect(try files(home) == before)
        #expect(try home.run("migrate", "run").status == 2)
        let repaired = try home.done("migrate", "ledger", "repair", "--apply").text
        #expect(repaired.contains(": put aside\n"))
        #expect(try home.done("migrate", "run").text == "theme to files: nothing to do\n")
        #expect(try home.shell("grep -rl garbage data").text.contains("damaged"))
        #expect(try home.done("get", "fileSystem/theme").text == "dark")
    }

    @Test("a bar on the terminal shows how far a long run is, and none is shown for a short one")
    func bar() throws {
        let home = try Home(
            steps:
                """
                \(Self.move), {"id": "notes", "move": {"from": "userDefaults/note.*", "to": "encryptedFileSystem/notes.*"}}
                """)
        try home.done("set", "userDefaults/theme", "dark")
        let short = try PseudoTerminal(
            home, "migrate", "run", "--only", "theme to files", adding: Haste.none.variables())
        #expect(short.end() == 0)
        #expect(short.text == "theme to files: migrated\r\n")
        let values = Dictionary(uniqueKeysWithValues: (1...6_000).map { ("note.\($0)", $0) })
        try JSONEncoder().encode(values).write(to: URL(filePath: "\(home.path)/values.json"))
        try home.done("import", "userDefaults", "\(home.path)/values.json")
        let long = try PseudoTerminal(home, "migrate", "run", adding: Haste.great.variables())
        #expect(long.end() == 0)
        #expect(long.text.contains(/migrating, 2 of 2 \[[#.]+\] [0-9,]+ of 6,000/), "\(long.text)")
        #expect(long.text.hasSuffix("notes: migrated\r\n"))
    }
}

extension Home {
    /// A home whose configuration has a pack with these steps, and whose `userDefaults` are in files.
    convenience init(steps: String) throws {
        try self.init()
        try keepUserDefaultsInFiles()
        try done(
            "config", "set", "migrations.packs.app",
            #"{"component": "standard", "options": {"manifest": [\#(steps)]}}"#)
    }
}
