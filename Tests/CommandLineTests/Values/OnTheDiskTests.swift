import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// The article says what every file is.
@Suite("Files on the disk") struct OnTheDiskTests {
    private static let article = "Sources/ld-host/Host/LocalDataHost.docc/OnTheDisk.md"

    /// The patterns of the article's tables, by the part of its title.
    private static func patterns() throws -> [(part: String, pattern: String)] {
        var part = ""
        var patterns: [(String, String)] = []
        for line in try Repository.text(article).split(separator: "\n") {
            if line.hasPrefix("## ") { part = line.dropFirst(3).lowercased() }
            guard line.hasPrefix("| `"), let cell = line.dropFirst(2).split(separator: " | ").first else { continue }
            patterns += cell.split(separator: ", ").map { (part, String($0).replacing("`", with: "")) }
        }
        return patterns
    }

    @Test("are in the article, whatever a person does here, and are their owner's alone")
    func all() throws {
        let home = try Home(
            steps: #"{"id": "move", "move": {"from": "userDefaults/x", "to": "fileSystem/moved"}}"#)
        let catalog = #"""
            {"format":1,"name":"Demo","keys":[{"address":"userDefaults/a","security":"none","serializer":"text",
            "type":"String","owner":"o","description":"d","availability":"all","sync":"automaticSmall"}]}
            """#
        let ending = try home.shell(
            #"""
            set -e; umask 000
            ld-host init > /dev/null 2>&1
            ld-host set userDefaults/a 1; ld-host set fileSystem/B 2; ld-host set --expires 1h fileSystem/c 3
            echo s | ld-host set keychain:svc/t --stdin; echo e | ld-host set encryptedFileSystem/e --stdin
            printf '{"set":"userDefaults/x","value":"1"}\n{"set":"fileSystem/y","value":"1"}\n' > lines
            ld-host batch < lines
            ld-host keys rotate; ld-host reseal; ld-host migrate run
            mkdir -m 700 shared; printf '%s' '\#(catalog)' > catalog
            ld-host config set catalogs '["'$PWD'/catalog"]'
            ld-host config set sync.options.folder $PWD/shared; ld-host config set sync.transport folder
            ld-host sync init --name desk; ld-host sync push
            ld-host store copy sqlite file --domain userDefaults; ld-host config set domains.userDefaults file
            ld-host store copy sqlite file --domain userDefaults --move; ld-host store forget sqlite || true
            ld-host plugins list > /dev/null; ld-host doctor || true
            """#)
        #expect(ending.status == 0, "\(ending.errors)")
        let patterns = try Self.patterns()
        let folders = ["configuration": "config", "data": "data", "state": "state", "cache": "cache"]
        for (part, folder) in folders {
            let found = try home.shell("cd \(folder)/localdata && find . ! -name . -printf '%y %m %P\n'").text
            try #require(!found.isEmpty, "\(folder)")
            for line in found.split(separator: "\n").map({ $0.split(separator: " ", maxSplits: 2) }) {
                let (kind, mode, path) = (line[0], line[1], String(line[2]))
                #expect(mode == (kind == "d" ? "700" : "600"), "\(folder): \(line)")
                guard kind != "d" else { continue }
                let isKnown = patterns.contains { $0.part == part && fnmatch($0.pattern, path, FNM_PERIOD) == 0 }
                #expect(isKnown, "\(folder): \(path)")
            }
        }
    }
}
