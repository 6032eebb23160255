import FoundationEssentials
import Testing

@Suite("Many processes that change one configuration")
struct ConfigurationCrowdTests {
    private static let processes = 16

    @Test("16 changes at once, one of them the first file: every acknowledged one is there, and so is its history")
    func changes() throws {
        let home = try Home()
        let stores = (1...Self.processes).map { "store-\($0)" }
        let ending = try home.shell(
            """
            ld-host init >init 2>&1 & pids=$!
            for i in $(seq \(Self.processes)); do
                ld-host config set stores.store-$i.component memory 2>errors.$i & pids="$pids $!"
            done
            for pid in $pids; do wait $pid || echo failed; done
            """)
        #expect(ending.text.isEmpty && ending.errors.isEmpty, "\(ending)")
        let names = try home.shell(
            "ld-host config show --json | python3 -c 'import json, sys; print(*json.load(sys.stdin)[\"stores\"])'")
        #expect(
            Set(names.text.split { $0 == " " || $0 == "\n" }.map(String.init)).isSuperset(of: stores), "\(names.text)")

        // Each process replaces the store of another domain; the host remembers the old one.
        let domains = [
            "appGroupFileSystem", "appGroupUserDefaults", "encryptedFileSystem", "fileSystem", "keychain",
            "userDefaults",
        ]
        for (domain, store) in zip(domains, stores) {
            try home.done("config", "set", "domains.\(domain)", store, "--anyway")
        }
        let moved = try home.shell(
            """
            for domain in \(domains.joined(separator: " ")); do
                ld-host config set domains.$domain sqlite --anyway 2>errors.$domain & pids="$pids $!"
            done
            for pid in $pids; do wait $pid || echo failed; done
            """)
        #expect(moved.text.isEmpty && moved.errors.isEmpty, "\(moved)")
        let former = try JSONDecoder().decode(
            [String].self,
            from: Data(contentsOf: URL(filePath: "\(home.path)/state/localdata/former-stores.json")))
        #expect(Set(former).isSuperset(of: stores.prefix(domains.count)), "\(former)")
    }
}
