import Foundation
import TestSupport
import Testing

/// The article says what every command prints with `--json`.
@Suite("JSON for programs") struct JSONOutputTests {
    private static let article = "Sources/ld-host/Host/LocalDataHost.docc/JSONOutput.md"

    /// The members of each command, and whether it prints a list.
    private static func rows() throws -> [String: (isList: Bool, members: Set<String>)] {
        var rows: [String: (Bool, Set<String>)] = [:]
        for line in try Repository.text(article).split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let words = cells[2].matches(of: /`([A-Za-z0-9]+)`/).map { String($0.1) }
            for name in cells[0].matches(of: /`([a-z ]+)`/).map({ String($0.1) }) {
                rows[name] = (cells[1] == "a list", Set(words))
            }
        }
        for name in ["quarantine show", "sync show"] { rows[name] = rows["get"] }
        rows["plugins inspect"] = rows["plugins list"].map { (false, $0.1) }
        return rows
    }

    /// What a person does, in an order in which each command has something to print.
    private static let script = #"""
        set -eu
        say() { command=$1; shift; printf '%s\t' "$command"; ld-host "$@" --json 2> errors | python3 -c '
        import json, sys
        print(json.dumps(json.load(sys.stdin)))'; }
        ld-host init > /dev/null 2>&1
        ld-host set userDefaults/a 1; ld-host set --expires 1h userDefaults/b 2; ld-host set fileSystem/c 3
        printf '\377' | ld-host set fileSystem/bytes --stdin; echo s | ld-host set encryptedFileSystem/e --stdin
        say get get userDefaults/b; say get get fileSystem/bytes; say get get encryptedFileSystem/e
        say exists exists userDefaults/a; say ls ls; say ls ls --apps
        printf '{"set":"userDefaults/x","value":"1"}\n' > lines; say batch batch lines
        printf '{"n": 1}' > values.json; say import import userDefaults:other values.json
        say 'config get' config get domains.userDefaults; say 'config path' config path
        say doctor doctor; say audit audit
        printf pass > pass; say backup backup all.backup --passphrase-fd 3 3< pass
        say restore restore all.backup --plan --passphrase-fd 3 3< pass
        say 'store switch' store switch userDefaults file --plan
        say 'store copy' store copy sqlite file --plan --domain userDefaults
        say 'store test' store test file
        say 'keys list' keys list; say 'keys list' keys list --values; say 'keys create' keys create
        say 'keys rotate' keys rotate; say reseal reseal
        say 'envelope inspect' envelope inspect encryptedFileSystem/e
        say 'migrate plan' migrate plan; say 'migrate status' migrate status; say 'migrate run' migrate run
        say 'migrate status' migrate status; say 'migrate history' migrate history
        say 'migrate resume' migrate resume; say 'migrate ledger repair' migrate ledger repair
        say 'quarantine list' quarantine list
        say 'plugins list' plugins list; say 'plugins inspect' plugins inspect "$(ld-host plugins list --json |
            python3 -c 'import json, sys
        print(next(row["path"] for row in json.load(sys.stdin) if row["path"].endswith(".so")))')"
        mkdir -m 700 shared; ld-host config set sync.options.folder "$PWD/shared" 2> /dev/null
        ld-host config set sync.transport folder 2> /dev/null
        say 'sync init' sync init --name desk; say 'sync status' sync status; say 'sync push' sync push
        say 'sync pull' sync pull; say 'sync invite' sync invite; say 'sync invite' sync invite --revoke
        say 'sync devices' sync devices; say 'sync conflicts' sync conflicts; say version version
        """#

    @Test("has the members that the article names, and times as text")
    func members() throws {
        let home = try Home(steps: #"{"id": "move", "move": {"from": "userDefaults/x", "to": "fileSystem/moved"}}"#)
        let ending = try home.shell(Self.script)
        #expect(ending.status == 0, "\(ending.errors) \((try? home.shell("cat errors").text) ?? "")")
        let rows = try Self.rows()
        var said: Set<String> = []
        for line in ending.text.split(separator: "\n") {
            let parts = line.split(separator: "\t", maxSplits: 1)
            let name = String(parts[0])
            try #require(parts.count == 2, "\(name) printed nothing")
            said.insert(name)
            let row = try #require(rows[name], "\(name)")
            let document = try JSONSerialization.jsonObject(with: Data(parts[1].utf8))
            let objects = try #require(
                document as? [[String: Any]] ?? (document as? [String: Any]).map { [$0] }, "\(name)")
            #expect((document is [Any]) == row.isList, "\(name)")
            for object in objects {
                let unknown = Set(object.keys).subtracting(row.members)
                #expect(unknown.isEmpty, "\(name): \(unknown)")
                for time in ["modified", "expires", "created", "date", "since", "lastSync", "committed", "keptUntil"] {
                    guard let value = object[time] else { continue }
                    let text = value as? String ?? ""
                    let isTime = text.wholeMatch(of: /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{9})?Z/) != nil
                    #expect(isTime, "\(name): \(time) is \(value)")
                }
            }
        }
        // The others need a second device, a value that no app reads, or take long; other tests run them.
        let others: Set = [
            "watch", "config show", "quarantine show", "sync show", "plugins test", "plugins vectors", "sync join",
            "sync accept", "sync remove",
        ]
        #expect(said.union(others) == Set(rows.keys))
    }

    @Test("nothing is written where a command fails")
    func failures() throws {
        let home = try Home()
        for words in [
            ["get", "userDefaults/none"], ["get", "nowhere/x"], ["restore", "none"], ["ls", "--long", "x"],
        ] {
            let ending = try home.run(BuiltProducts.host, words + ["--json"])
            #expect(ending.status != 0 && ending.text.isEmpty && !ending.errors.isEmpty, "\(words)")
        }
    }
}
