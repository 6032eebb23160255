import FoundationEssentials
import Glibc
import LocalDataAPI
import Testing

@testable import MigrationManifest

@Suite("manifests in files and in the configuration") struct ManifestFileTests {
    private static let step = #"{"id":"a","rename":{"from":"rows/a","to":"rows/b"}}"#

    @Test("a file of one's own is read")
    func read() throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let manifest = try Manifest(file: home.write("[\(Self.step)]"))
        #expect(manifest.migrations.map(\.id) == ["a"])
        #expect(try Manifest(file: home.write("[]", mode: 0o644)).steps.isEmpty)
    }

    @Test(
        "a file that others can write, a link, a folder, a pipe, one that is not there or too large is refused by name")
    func refused() throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let path = try home.write("[]")
        try #require(symlink(path, "\(home.folder)/link") == 0)
        try #require(mkfifo("\(home.folder)/pipe", 0o600) == 0)
        let cases: [(String, StorageError.Code, String)] = [
            (try home.write("[]", to: "open", mode: 0o666), .permissionDenied, "can be written by others"),
            (try home.write("[]", to: "group", mode: 0o620), .permissionDenied, "can be written by others"),
            ("\(home.folder)/link", .fileError, "cannot be opened"), (home.folder, .invalidOptions, "no regular file"),
            ("\(home.folder)/pipe", .invalidOptions, "no regular file"),
            ("\(home.folder)/none", .fileError, "No such file"), ("/dev/null", .invalidOptions, "no regular file"),
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

    @Test("what is not JSON is refused by line and column, and what is no manifest by file and step")
    func damaged() throws {
        let home = try ManifestHome()
        defer { home.remove() }
        for (text, message) in [
            ("[\n  {\"id\": \"a\",\n   \"id\": \"b\"}]", ":3:4: a member is given twice"),
            ("", ":1:1: expected a value"),
            ("[", ":1:2: expected a value"),
            ("[\(Self.step),\(Self.step)]", ": step 'a': there are two steps with this id"),
            ("\u{0}", ":1:1: expected a value"), ("[// none\n]", ":1:2: expected a value"),
        ] {
            let path = try home.write(text)
            let error = try #require(throws: StorageError.self) { try Manifest(file: path) }
            #expect(error.code == .invalidOptions && error.message == path + message, "\(error.message)")
        }
    }

    @Test("the configuration's list says the same as a file")
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
