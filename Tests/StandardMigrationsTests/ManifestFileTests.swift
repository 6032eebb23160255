import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import MigrationManifest

@Suite("manifests in files and in the configuration") struct ManifestFileTests {
    private static let step = #"{"id":"a","rename":{"from":"rows/a","to":"rows/b"}}"#

    @Test("the user's own file is read")
    func read() throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let manifest = try Manifest(file: home.write("[\(Self.step)]"))
        #expect(manifest.migrations.map(\.id) == ["a"])
        #expect(try Manifest(file: home.write("[]", mode: 0o644)).steps.isEmpty)
    }

    @Test("a link of one's own, as by those who keep their configuration elsewhere, is followed, also to another link")
    func links() throws {
        let home = try ManifestHome()
        defer { home.remove() }
        _ = try home.write("[\(Self.step)]", to: "real")
        try #require(symlink("real", "\(home.folder)/data") == 0 && symlink("data", "\(home.folder)/link") == 0)
        #expect(try Manifest(file: "\(home.folder)/link").steps.count == 1)
        try #require(symlink("circle", "\(home.folder)/circle") == 0)
        let error = try #require(throws: StorageError.self) { try Manifest(file: "\(home.folder)/circle") }
        #expect(error.hint.contains("a link of your own"))
    }

    @Test(
        "a file that others can write, a folder, a pipe, an absent or too large file is refused by name")
    func refused() throws {
        let home = try ManifestHome()
        defer { home.remove() }
        try #require(mkfifo("\(home.folder)/pipe", 0o600) == 0)
        let cases: [(String, StorageError.Code, String)] = [
            (try home.write("[]", to: "open", mode: 0o666), .permissionDenied, "can be written by others"),
            (home.folder, .invalidOptions, "is not a regular file"),
            ("\(home.folder)/pipe", .invalidOptions, "is not a regular file"),
            ("\(home.folder)/none", .fileError, "No such file"),
            ("/dev/null", .invalidOptions, "is not a regular file"),
            (
                try home.write(String(repeating: " ", count: Manifest.largestFile + 1), to: "large"), .invalidOptions,
                "more than 1048576 bytes"
            ),
        ]
        for (path, code, reason) in cases {
            let error = try #require(throws: StorageError.self) { try Manifest(file: path) }
            #expect(
                error.code == code && error.message.contains(reason) && error.message.contains(path), "\(error.message)"
            )
        }
    }

    @Test("malformed JSON is refused with line and column, and an invalid manifest with the step")
    func damaged() throws {
        let home = try ManifestHome()
        defer { home.remove() }
        for (text, message) in [
            ("[\n  {\"id\": \"a\",\n   \"id\": \"b\"}]", ":3:4: a member is given twice"),
            ("", ":1:1: expected a value"),
            ("[", ":1:2: expected a value"),
            ("[\(Self.step),\(Self.step)]", ":1:\(Self.step.count + 3): step 'a': there are two steps with this id"),
            (" {}", ":1:2: a manifest of migrations is an empty object, expected a list of steps"),
            ("\u{0}", ":1:1: expected a value"), ("[// none\n]", ":1:2: expected a value"),
        ] {
            let path = try home.write(text)
            let error = try #require(throws: StorageError.self) { try Manifest(file: path) }
            #expect(error.code == .invalidOptions && error.message == path + message, "\(error.message)")
        }
    }

    @Test("all mistakes are reported at once, in the order of the file, each with line and column")
    func mistakes() throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let path = try home.write(
            """
            [
              { "id": "a", "rename": { "form": "rows/a", "to": "rows/b" } },
              { "revision": 0, "id": "b", "rename": { "from": "rows", "to": 7 }, "onConflict": "ask" },
              { "id": "c", "map": { "from": "rows/c", "to": "rows/d",
                  "fields": [{ "drop": "/x" }, { "drop": "y" }, { "cast": "/z", "to": "date" }] } },
              { "id": "d", "remove": "rows/e" },
              { "id": "e", "rename": { "from": "rows/f" } },
              { "id": "f", "move": { "from": "keychain:s/g", "to": "rows" } }
            ]
            """)
        let error = try #require(throws: StorageError.self) { try Manifest(file: path) }
        let found = error.message.split(separator: "\n").map { $0.dropFirst(path.count) }
        for (line, message) in zip(
            found,
            [
                ":2:28: step 'a', rename: unknown member 'form' (did you mean 'from'?)",
                ":3:17: step 'b', revision: expected a whole number of 1 or more, found 0",
                ":3:51: step 'b', rename.from: 'rows' has no name",
                ":3:65: step 'b', rename.to: expected a key such as",
                ":3:84: step 'b', onConflict: expected one of",
                ":5:46: step 'c', map.fields[1].drop: expected a JSON pointer",
                ":5:75: step 'c', map.fields[2].to: expected one of string, number, boolean, found 'date'",
                ":7:26: step 'e', rename: 'to' is missing",
                ":8:3: step 'f': 'keychain:s/g' is protected",
            ])
        { #expect(line.hasPrefix(message), "\(line)") }
        #expect(found.count == 9 && error.code == .invalidOptions, "\(error.message)")
        #expect(error.message.split(separator: "\n").allSatisfy { $0.hasPrefix(path) })
    }

    @Test("of many mistakes the first ten are named, and conflicts between steps once each step is right")
    func many() throws {
        let wrong = (1...12).map { "{\"id\":\"\($0)\",\"renmae\":{}}" }
        let error = try #require(throws: StorageError.self) { try Manifest(text: "[\(wrong.joined(separator: ","))]") }
        let lines = error.message.split(separator: "\n")
        #expect(lines.count == 11 && lines.last == "and 2 more")
        #expect(lines.prefix(10).enumerated().allSatisfy { $1.hasPrefix("step \($0 + 1): ") })
        let clash = #"[{"id":"a","remove":"rows/a"},{"id":"b","remove":"rows/a"},{"id":"c","remove":"rows/a"}]"#
        let order = try #require(throws: StorageError.self) { try Manifest(text: clash) }
        #expect(order.message.split(separator: "\n").map { $0.prefix(8) } == ["step 'b'", "step 'c'"])
    }

    /// The package's session checks that the guide is installed where the hint says.
    @Test("the guide that a hint names exists")
    func reference() throws {
        let guide = try #require(
            ManifestFaults.reference.split(whereSeparator: { " ,".contains($0) }).first { $0.hasSuffix(".md") })
        let article = try Repository.text("Sources/LocalDataAPI/LocalDataAPI.docc/\(guide)")
        #expect(article.contains("manifest"))
    }

    @Test("the configuration's list has the same meaning as a file")
    func configured() throws {
        let manifest = try Manifest([
            ["id": "a", "default": ["key": "rows/a", "value": ["x": 1.5, "y": [2, nil, true]]], "revision": 2]
        ])
        let migration = try #require(manifest.migrations.first)
        #expect(migration.id == "a" && migration.revision == 2 && migration.summary.contains("rows/a"))
        #expect(try Manifest([]).steps.isEmpty)
        #expect(throws: StorageError.invalidOptions) { try Manifest(["x"]) }
    }
}
