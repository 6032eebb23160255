import FoundationEssentials
import TestSupport
import Testing

@Suite("Conditional changes and expiry at the command line", .serialized) struct ConditionalCommandTests {
    @Test("a value is created once, and changed and removed only with its revision", arguments: ["file", "sqlite"])
    func revisions(store: String) throws {
        let home = try Home()
        try home.done("config", "set", "domains.userDefaults", store)
        let first = try home.done("set", "userDefaults/a", "1", "--create").text.trimmingSuffix("\n")
        #expect(try home.done("get", "--revision", "userDefaults/a").text == "\(first)\n")
        let again = try home.run("set", "userDefaults/a", "2", "--create")
        #expect(again.status == 2)
        #expect(again.errors.contains("'userDefaults/a' has a value in '\(store)' already, and it stays"))
        let second = try home.done("set", "userDefaults/a", "2", "--if-revision", first).text.trimmingSuffix("\n")
        let stale = try home.run("set", "userDefaults/a", "3", "--if-revision", first)
        #expect(stale.status == 2 && stale.errors.contains("was changed or removed meanwhile"), "\(stale.errors)")
        #expect(try home.run("rm", "userDefaults/a", "--if-revision", first).status == 2)
        #expect(try home.done("get", "userDefaults/a").text == "2")
        try home.done("rm", "userDefaults/a", "--if-revision", second)
        #expect(try home.run("get", "--revision", "userDefaults/a").status == 1)
    }

    @Test("contradictory or impossible options are refused, and nothing is stored")
    func refusals() throws {
        let home = try Home()
        for (words, complaint) in [
            (["--create", "--if-revision", "0000000000000001"], "cannot be combined"),
            (["--if-revision", "12"], "is not a revision"),
            (["--if-revision", "0000000000000000"], "is not a revision"),
            (["--expires", "2030-02-30T12:00:00Z"], "is not a time"),
            (["--expires", "2030-01-31T24:00:00Z"], "is not a time"),
            (["--expires", "soon"], "is not a time"), (["--expires", "-1h"], "is not a time"),
            (["--expires", "0s"], "is not a time"), (["--expires", "2001-01-01T00:00:00Z"], "is in the past"),
            (["--expires", "2999-01-01T00:00:00Z"], "is too late"), (["--expires", "100000w"], "is too late"),
        ] {
            let ending = try home.run(BuiltProducts.host, ["set", "userDefaults/a", "1"] + words)
            #expect(ending.status == 64 && ending.errors.contains(complaint), "\(words): \(ending.errors)")
        }
        let two = try home.run("rm", "userDefaults/a", "userDefaults/b", "--if-revision", "0000000000000001")
        #expect(two.status == 64)
        #expect(try home.done("ls").text == "")
    }

    @Test("a value expires, is listed as expired until the next list, and is gone", arguments: ["file", "sqlite"])
    func expires(store: String) throws {
        let home = try Home()
        try home.done("config", "set", "domains.userDefaults", store)
        try home.done("set", "userDefaults/long", "x", "--expires", "2w")
        try home.done("set", "userDefaults/short", "x", "--expires", "1s")
        let ending = try home.shell(
            """
            ld-host get userDefaults/short && echo
            ld-host get --json userDefaults/short | grep -c '"expires" : "20'
            sleep 1.1
            ld-host ls --expired userDefaults/
            ld-host ls userDefaults
            ld-host ls --expired userDefaults/
            ld-host exists userDefaults/short || echo absent
            """)
        #expect(
            ending.text == "x\n1\nuserDefaults/short\nuserDefaults/long\nabsent\n", "\(ending.text)\(ending.errors)")
    }

    @Test(
        "a reader that has found a value expired does not see it again after the clock is set back",
        arguments: ["file", "sqlite"])
    func clockSetBack(store: String) throws {
        let home = try Home()
        try home.done("config", "set", "domains.userDefaults", store)
        for (name, read) in [
            ("got", "get userDefaults/got"), ("listed", "ls userDefaults"), ("asked", "exists userDefaults/asked"),
            ("exported", "export userDefaults/"),
        ] {
            try home.done("set", "userDefaults/\(name)", "x", "--expires", "1h")
            let later = try home.shell("faketime -f +2h ld-host \(read)")
            #expect(!later.text.contains("x"), "\(later.text)")
            #expect(try home.run("get", "userDefaults/\(name)").status == 1, "\(name)")
        }
    }

    @Test("copies, backups and exports keep the time at which a value expires")
    func kept() throws {
        let home = try Home()
        try home.done("config", "set", "domains.userDefaults", "file")
        try home.done("set", "userDefaults/a", "x", "--expires", "2100-01-01T00:00:00Z")
        let line = "\"expires\" : \"2100-01-01T00:00:00Z\""
        #expect(try home.done("get", "--json", "userDefaults/a").text.contains(line))
        try home.done("store", "copy", "file", "sqlite", "--domain", "userDefaults", "--move")
        try home.done("config", "set", "domains.userDefaults", "sqlite")
        #expect(try home.done("get", "--json", "userDefaults/a").text.contains(line))
        try home.done("export", "userDefaults/", input: []).output.withUnsafeBytes {
            try Data($0).write(to: URL(filePath: "\(home.path)/export.json"))
        }
        try home.done("rm", "userDefaults/a")
        try home.done("import", "userDefaults", "\(home.path)/export.json")
        #expect(try home.done("get", "--json", "userDefaults/a").text.contains(line))
    }

    /// 200 rounds with `LOCALDATA_TORTURE=1`.
    @Test("of 50 processes that create one value, one wins", arguments: ["file", "sqlite"])
    func create(store: String) throws {
        let home = try Home()
        try home.done("config", "set", "domains.userDefaults", store)
        let rounds = TestRun.isTorture ? 200 : 8
        let ending = try home.shell(
            """
            for i in $(seq 50); do "$BIN/migration-exercise" create \(rounds) > out.$i & pids="$pids $!"; done
            for pid in $pids; do wait $pid || echo failed; done
            cat out.* | sort -n
            """)
        #expect(ending.text == (0..<rounds).map { "\($0)\n" }.joined(), "\(ending.errors)")
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
