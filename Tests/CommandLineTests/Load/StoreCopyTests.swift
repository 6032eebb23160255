import FoundationEssentials
import Testing

@Suite("Copies of many values from one store to another", .serialized)
struct StoreCopyTests {
    private static let count = 3000

    /// A home whose file store has many small values, an empty one, and a large one.
    private func home() throws -> Home {
        let home = try Home()
        try home.keepUserDefaultsInFiles()
        var values: [String: String] = [:]
        for number in 0..<Self.count { values["k\(number)"] = "value \(number)" }
        values["empty"] = ""
        values["large"] = String(repeating: "large", count: 500_000)
        try JSONEncoder().encode(values).write(to: URL(filePath: "\(home.path)/values.json"))
        try home.done("import", "userDefaults", "\(home.path)/values.json")
        return home
    }

    /// A script that prints how many writing system calls a command makes.
    private static func writes(_ command: String) -> String {
        """
        before=$(awk '/syscw/ { print $2 }' /proc/$$/io)
        \(command) > out || exit 1
        after=$(awk '/syscw/ { print $2 }' /proc/$$/io)
        echo $((after - before))
        """
    }

    @Test("a copy writes many values at once, as an import does, and each of them arrives")
    func chunks() throws {
        let home = try home()
        let ending = try home.shell(
            """
            ld-host config set stores.other '{"component":"sqlite","options":{"path":"'$HOME'/other.sqlite"}}' 2> out
            \(Self.writes("ld-host -c domains.userDefaults=other import userDefaults values.json"))
            \(Self.writes("ld-host store copy file sqlite"))
            cat out
            ld-host export userDefaults/ | sort > first
            ld-host -c domains.userDefaults=sqlite export userDefaults/ | sort > second
            cmp first second && wc -l < first
            """)
        #expect(ending.status == 0, "\(ending.errors)")
        let lines = ending.text.split(separator: "\n").map(String.init)
        try #require(lines.count == 4)
        let (imported, copied) = (try #require(Int(lines[0])), try #require(Int(lines[1])))
        // Stored one by one, each value took three calls: two pages for the log, and the commit.
        #expect(copied < 2 * imported + 500, "\(lines)")
        #expect(lines[2] == "3002 of 3002 values were copied to 'sqlite', which had 0")
        #expect(lines[3] == "3004")
    }

    @Test("values that the destination has within a chunk stay, or are replaced on request; the copy is sealed")
    func present() throws {
        let home = try home()
        let ending = try home.shell(
            """
            ld-host config set stores.other '{"component":"file","options":{"root":"'$HOME'/other"},"sealing":"keyFile"}' \
                2> out
            ld-host get userDefaults/k7 | ld-host -c domains.userDefaults=other set userDefaults/k7 --stdin --json
            echo another | ld-host -c domains.userDefaults=other set userDefaults/k1500 --stdin
            # Whole seconds do not say which of two values is later.
            touch -d '2026-01-01T00:00:00Z' $(find other -name k1500)
            ld-host store copy file other --overwrite --move
            ld-host ls userDefaults
            ld-host -c domains.userDefaults=other export userDefaults/ > back.json
            grep -rl 'value 2999' other
            """)
        let lines = ending.text.split(separator: "\n")
        try #require(lines.count == 3, "\(ending.text) \(ending.errors)")
        #expect(lines[0] == "3001 of 3002 values were copied to 'other', which had 1")
        #expect(lines[1] == "3002 values were removed from 'file'")
        #expect(
            lines[2].hasPrefix("userDefaults/k1500: ") && lines[2].hasSuffix("--overwrite takes the one in 'file'"))
        func values(_ file: String) throws -> [String: String] {
            try JSONDecoder().decode(
                [String: String].self, from: Data(contentsOf: URL(filePath: "\(home.path)/\(file)")))
        }
        #expect(try values("back.json") == values("values.json"))
    }
}
