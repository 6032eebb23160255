import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import Testing

@testable import MigrationManifest

@Suite("steps that change after they have run", .timeLimit(.minutes(3))) struct ChangedStepTests {
    /// The location of the manifest.
    enum Form: CaseIterable { case configuration, file }

    private static let first = #"{"id":"first","onConflict":"takeSource","rename":{"from":"rows/a","to":"rows/b"}}"#
    private static let second = #"{"id":"second","rename":{"from":"rows/c","to":"rows/d"}}"#

    private static func router(_ home: ManifestHome, _ form: Form, _ steps: String...) throws -> StorageRouter {
        let manifest = "[\(steps.joined(separator: ", "))]"
        let options = form == .file ? "file: \"\(try home.write(manifest))\"" : "manifest: \(manifest)"
        return try home.router("migrations: { packs: { ours: { component: \"standard\", options: { \(options) } } } }")
    }

    /// Stores a value at the source of the first step, and runs that step.
    private static func run(_ router: StorageRouter, _ value: String) async throws -> MigrationReport.Entry {
        try await router.put(value, at: "rows/a")
        let report = try await router.migrate([AnyStorageKey(StorageKeyDescriptor(address: "rows/b"))])
        return try #require(report.entries.first { $0.migration == "first" })
    }

    @Test("adding a step does not make others count as changed", arguments: Form.allCases)
    func added(_ form: Form) async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        #expect(try await Self.run(Self.router(home, form, Self.first), "1").outcome == .migrated)
        // The steps are in another order, one depends on another, and the spaces differ.
        let after = Self.first.replacing(#""rename":"#, with: #""after": ["second"],  "revision": 1, "rename": "#)
        for (value, steps) in [("2", [Self.first, Self.second]), ("3", [Self.second, after]), ("4", [Self.first])] {
            let router = try Self.router(home, form, steps.joined(separator: ", "))
            #expect(try await Self.run(router, value).outcome == .migrated)
            #expect(try await router.text(at: "rows/b") == value)
            #expect(
                try await router.migrations.status().migrations.allSatisfy {
                    $0.migration != "first" || $0.problem == nil
                })
        }
    }

    @Test(
        "a changed step that has run is refused by pack and step, unless its revision differs",
        arguments: Form.allCases)
    func changed(_ form: Form) async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        #expect(try await Self.run(Self.router(home, form, Self.first), "1").outcome == .migrated)
        let changed = Self.first.replacing("rows/a", with: "rows/z")
        let router = try Self.router(home, form, changed, Self.second)
        // A migration with nothing to do does not fail, and the change is reported.
        #expect(try await router.migrate([AnyStorageKey(StorageKeyDescriptor(address: "rows/b"))]).failures.isEmpty)
        let problem = try await router.migrations.status().migrations.first { $0.migration == "first" }?.problem
        #expect(problem?.contains("the pack 'ours' has changed its migration 'first'") == true, "\(problem ?? "")")
        try await router.put("2", at: "rows/z")
        let entry = try await Self.run(router, "2")
        #expect(entry.outcome == .failed && entry.error?.code == .packUnavailable, "\(entry)")
        for word in ["the pack 'ours'", "its migration 'first'", "ran revision 1 with", "raise the revision"] {
            #expect(entry.error?.message.contains(word) == true, "\(entry)")
        }
        #expect(try await router.text(at: "rows/b") == "1")
        #expect(try await router.text(at: "rows/z") == "2")
        let plan = try await router.migrations.plan()
        #expect(
            plan.entries.contains {
                $0.migration == "first" && $0.error == MigrationError.Code.packUnavailable.rawValue
            }, "\(plan)")

        let raised = changed.replacing(#""id":"first","#, with: #""id":"first","revision":2,"#)
        #expect(try await Self.run(Self.router(home, form, raised, Self.second), "1").outcome == .migrated)
        #expect(try await router.text(at: "rows/b") == "2")
    }

    @Test("a manifest may move to a file, and back to the configuration")
    func moved() async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        for (value, form) in [("1", Form.configuration), ("2", .file), ("3", .configuration)] {
            #expect(try await Self.run(Self.router(home, form, Self.first), value).outcome == .migrated)
        }
    }

    private static func fingerprint(_ step: String) throws -> String? {
        let manifest = try Manifest(text: "[\(step),\(second)]")
        return manifest.migrations.first { $0.id != "second" }?.fingerprint
            ?? manifest.bulkMigrations.first?.fingerprint
    }

    private static let whole =
        #"{"id":"first","revision":2,"after":["second"],"onConflict":"fail","when":{"dataVersion":"<2"},"#
        + #""map":{"from":"rows/a","to":"rows/b","fields":[{"drop":"/x"},{"set":"/y","value":{"b":1,"a":"1"}}]}}"#

    @Test(
        "a step's id, order and notation are not part of its fingerprint",
        arguments: [
            (#""first""#, #""another""#), (#""revision":2,"#, ""), (#""after":["second"],"#, ""),
            (#"{"b":1,"a":"1"}"#, "{ \"a\" : \"1\",\n \"b\" : 1 }"),
            (#""from":"rows/a","to":"rows/b""#, #""to":"rows/b","from":"rows/a""#),
        ])
    func same(_ part: String, _ other: String) throws {
        let changed = Self.whole.replacing(part, with: other)
        #expect(changed != Self.whole)
        #expect(try Self.fingerprint(changed) == Self.fingerprint(Self.whole))
        #expect(try Self.fingerprint(Self.whole)?.isEmpty == false)
    }

    @Test(
        "everything else is part of it",
        arguments: [
            (#""fail""#, #""takeSource""#), (#""onConflict":"fail","#, ""), ("<2", "<3"), ("dataVersion", "appVersion"),
            ("rows/a", "rows/A"), ("rows/b", "rows/e"), (#"{"drop":"/x"},"#, ""), ("/x", "/z"),
            (#""a":"1""#, #""a":1"#),
            (#""b":1"#, #""b":1.0"#),
            (
                #"{"drop":"/x"},{"set":"/y","value":{"b":1,"a":"1"}}"#,
                #"{"set":"/y","value":{"b":1,"a":"1"}},{"drop":"/x"}"#
            ),
        ])
    func other(_ part: String, _ other: String) throws {
        let changed = Self.whole.replacing(part, with: other)
        #expect(changed != Self.whole)
        #expect(try Self.fingerprint(changed) != Self.fingerprint(Self.whole))
    }

    @Test(
        "a changed step for a prefix that has run is refused as soon as there is something to move",
        arguments: Form.allCases)
    func changedPrefix(_ form: Form) async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let step = #"{"id":"many","prefix":{"from":"rows/old.*","to":"rows/new.*"}}"#
        let first = try Self.router(home, form, step)
        try await first.put("1", at: "rows/old.a")
        #expect(try await first.runMigration("many").outcome == .migrated)
        let router = try Self.router(home, form, step.replacing(#""id""#, with: #""onConflict":"takeSource","id""#))
        #expect(try await router.runMigration("many").outcome == .nothingToDo)
        try await router.put("2", at: "rows/old.b")
        let plan = try await router.migrations.plan()
        #expect(plan.entries.map(\.error) == [MigrationError.Code.packUnavailable.rawValue], "\(plan)")
        await #expect {
            try await router.runMigration("many")
        } throws: {
            let error = $0 as? MigrationError
            return error?.code == .packUnavailable && error?.message.contains("its migration 'many'") == true
        }
        #expect(try await router.text(at: "rows/old.b") == "2")
        #expect(try await Self.router(home, form, step, Self.second).runMigration("many").outcome == .migrated)
        #expect(try await router.text(at: "rows/new.b") == "2")
    }

    @Test("a step for a prefix has a fingerprint, too")
    func ranges() throws {
        let step = #"{"id":"all","move":{"from":"userDefaults/old.*","to":"rows/old.*"}}"#
        #expect(try Self.fingerprint(step) != nil)
        #expect(
            try Self.fingerprint(step)
                != Self.fingerprint(step.replacing("rows/old", with: "rows/new")))
    }
}
