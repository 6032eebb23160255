import FoundationEssentials
import TestSupport
import Testing

/// Migrations whose process was killed after they had written, and before they removed the old values.
@Suite("A migration to sealed values that was killed", .timeLimit(.minutes(5)))
struct InterruptedMigrationTests {
    private static let token = "keychain:com.example/token"

    /// A home in which the migration has moved the token and has its source left to remove.
    private func killed() throws -> Home {
        let home = try Home(steps: #"{"id": "move", "move": {"from": "userDefaults/token", "to": "\#(Self.token)"}}"#)
        try home.done("set", "userDefaults/token", "secret")
        try home.done("set", "keychain:other/other", "--stdin", input: Array("other".utf8))
        let disturbed = try DisturbedHome(home, ["migrate", "run"])
        for number in try disturbed.calls().indices.reversed() {
            _ = try disturbed.run(FaultPoint(mode: .killBefore, number: number + 1))
            if try home.run("migrate", "status").text.contains("migrated, sources not yet removed") { return home }
        }
        throw TestFailure("there is no such point")
    }

    @Test("is completed by the next run, and can be rolled back")
    func rolledBack() throws {
        let home = try killed()
        #expect(try home.done("migrate", "run").text.contains("move: sources removed"))
        #expect(try home.done("get", Self.token).text == "secret")
        #expect(try home.run("exists", "userDefaults/token").status == 1)
        try home.done("migrate", "rollback", "move")
        #expect(try home.done("get", "userDefaults/token").text == "secret")
        #expect(try home.run("exists", Self.token).status == 1)
        let again = try home.run("migrate", "rollback", "move")
        #expect(again.status == 2 && again.errors.contains("has been rolled back already"), "\(again.errors)")
        #expect(try !home.run("migrate", "status").text.contains("former store's files"))
    }

    @Test("keeps its source if its new value is damaged")
    func damaged() throws {
        let home = try killed()
        let file = "\(home.path)/data/localdata/keychain/keychain@com.example/token"
        var bytes = try Data(contentsOf: URL(filePath: file))
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: URL(filePath: file))
        let run = try home.run("migrate", "run")
        #expect(run.status == 2, "\(run.text)\(run.errors)")
        #expect(try home.run("get", Self.token).status == 2)
        #expect(try home.done("get", "userDefaults/token").text == "secret")
        // Once the value is whole, the next run removes the source.
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: URL(filePath: file))
        try home.done("migrate", "run")
        #expect(try home.run("exists", "userDefaults/token").status == 1)
        #expect(try home.done("get", Self.token).text == "secret")
    }

    @Test("is not rolled back over a value that was set after the kill")
    func setSince() throws {
        let home = try killed()
        try home.done("set", Self.token, "--stdin", input: Array("newer".utf8))
        try home.done("migrate", "run")
        let rollback = try home.run("migrate", "rollback", "move")
        #expect(rollback.status == 2 && rollback.errors.contains("may have changed since"), "\(rollback.errors)")
        #expect(try home.done("get", Self.token).text == "newer")
    }

    @Test("a migration can be rolled back after its values were re-encrypted", arguments: ["takeSource", "fail"])
    func resealed(_ policy: String) throws {
        let rename = #""rename": {"from": "keychain:a/new", "to": "keychain:a/x"}"#
        let home = try Home(steps: #"{"id": "take", "onConflict": "\#(policy)", \#(rename)}"#)
        if policy == "takeSource" { try home.done("set", "keychain:a/x", "--stdin", input: Array("old".utf8)) }
        try home.done("set", "keychain:a/new", "--stdin", input: Array("new".utf8))
        try home.done("migrate", "run")
        for store in [[], ["--store", "sealed-files"]] as [[String]] {
            let rotate = try home.run(BuiltProducts.host, ["keys", "rotate"] + store)
            guard rotate.status == 0 else { continue }
            #expect(try home.run(BuiltProducts.host, ["reseal"] + store).status == 0)
        }
        #expect(try home.done("get", "keychain:a/x").text == "new")
        try home.done("migrate", "rollback", "take")
        #expect(try home.done("get", "keychain:a/new").text == "new")
        if policy == "takeSource" { #expect(try home.done("get", "keychain:a/x").text == "old") }
        #expect(try home.shell("find data -name '*written*'").text == "")
    }

    @Test("a plan shows what follows from the moves of a bulk step before it")
    func plan() throws {
        let home = try Home(
            steps: #"""
                {"id": "a", "prefix": {"from": "userDefaults/o.*", "to": "userDefaults/n.*"}},
                {"id": "b", "after": ["a"], "remove": "userDefaults/n.1"},
                {"id": "c", "after": ["b"], "prefix": {"from": "userDefaults/n.*", "to": "userDefaults/m.*"}},
                {"id": "d", "after": ["c"], "rename": {"from": "userDefaults/m.2", "to": "userDefaults/second"}}
                """#)
        for name in ["o.1", "o.2", "o.3"] { try home.done("set", "userDefaults/\(name)", name) }
        let plan = try home.done("migrate", "plan").text
        for id in ["a", "b", "c", "d"] { #expect(plan.contains("run  \(id)\n"), "\(plan)") }
        #expect(plan.contains("3 values go from") && plan.contains("2 values go from"), "\(plan)")
        try home.done("migrate", "run")
        #expect(try home.done("get", "userDefaults/second").text == "o.2")
        #expect(try home.done("ls").text.split(separator: "\n").count == 2)
    }
}
