import FoundationEssentials
import TestSupport
import Testing

@Suite("Many processes on one store", .serialized)
struct ProcessCrowdTests {
    private static let processes = 16

    @Test("16 processes that write 200 keys each at once: every key is there, whole")
    func differentKeys() throws {
        let home = try Home()
        try home.keepUserDefaultsInFiles()
        let expected = try home.checkImports(by: Self.processes, of: 200)
        #expect(try files(home).count == expected.count)
    }

    @Test("16 processes that overwrite one key while others read it: every value read is whole, and one that was set")
    func oneKey() throws {
        let home = try Home()
        try home.keepUserDefaultsInFiles()
        let rounds = TestRun.isTorture ? 200 : 8
        for process in 1...Self.processes {
            // Every line names its process, so that mixed values are noticed.
            let value = String(repeating: "the value of process \(process)\n", count: 100 * 1024 / 25)
            try Data(value.utf8).write(to: URL(filePath: "\(home.path)/value.\(process)"))
        }
        let ending = try home.shell(
            """
            ld-host set userDefaults/one --file value.1
            for i in $(seq \(Self.processes)); do
                (for n in $(seq \(rounds)); do ld-host set userDefaults/one --file value.$i || echo failed $i; done) &
                pids="$pids $!"
            done
            for i in 1 2; do
                (while ! test -e done; do ld-host get userDefaults/one > read.$i || echo failed reader
                    sort -u read.$i | wc -l; wc -c < read.$i; done) > reader.$i & readers="$readers $!"
            done
            wait $pids
            touch done
            wait $readers
            ld-host get userDefaults/one > last
            for i in $(seq \(Self.processes)); do cmp -s last value.$i && echo is $i; done
            """)
        #expect(ending.errors == "")
        #expect(ending.text.wholeMatch(of: /is \d+\n/) != nil, "the last value is no one's: \(ending.text)")
        let sizes = try (1...Self.processes).map {
            try FileManager.default.attributesOfItem(atPath: "\(home.path)/value.\($0)")[.size] as? Int
        }
        for reader in 1...2 {
            let lines = try String(contentsOfFile: "\(home.path)/reader.\(reader)", encoding: .utf8)
                .split(separator: "\n")
            #expect(lines.count >= 2 && lines.count.isMultiple(of: 2))
            for (index, line) in lines.enumerated() {
                if index.isMultiple(of: 2) {
                    #expect(line == "1", "a mixture of values")
                } else {
                    #expect(sizes.contains(Int(line)), "part of a value: \(line) bytes")
                }
            }
        }
        #expect(try files(home).count == 1)
    }

    @Test("writers that are killed at any time: acknowledged values are there, others are whole or absent")
    func killedWriters() throws {
        let home = try Home()
        try home.keepUserDefaultsInFiles()
        let rounds = TestRun.isTorture ? 400 : 20
        var generator = SeededGenerator(seed: UInt64(rounds))
        var lines: [String] = []
        for writer in 1...4 {
            // Every fifth process is not killed: 0 means no limit to timeout(1).
            let delays = (0..<rounds).map { $0.isMultiple(of: 5) ? 0 : Int.random(in: 1...40, using: &generator) }
            lines.append(
                """
                (n=0; for delay in \(delays.map { "0.\($0 < 10 ? "00" : "0")\($0)" }.joined(separator: " ")); do
                    n=$((n + 1)); yes \(writer).$n | head -c 20000 > in.\(writer)
                    timeout -s KILL $delay ld-host set userDefaults/k\(writer).$n --file in.\(writer) &&
                        echo k\(writer).$n >> acknowledged
                done) & pids="$pids $!"
                """)
        }
        _ = try home.shell(
            "ld-host plugins list > list; touch acknowledged\n\(lines.joined(separator: "\n"))\nwait $pids")
        let acknowledged = try String(contentsOfFile: "\(home.path)/acknowledged", encoding: .utf8)
            .split(separator: "\n").map(String.init)
        #expect((4 * rounds / 5..<4 * rounds).contains(acknowledged.count), "nothing was killed, or all")
        let stored = try home.done("ls", "userDefaults").text.split(separator: "\n").map { String($0.dropFirst(13)) }
        #expect(Set(stored).isSuperset(of: acknowledged))
        for name in stored {
            let line = "\(name.dropFirst())\n"
            let whole = String(String(repeating: line, count: 20_000 / line.utf8.count + 1).utf8.prefix(20_000))
            #expect(try home.run("get", "userDefaults/\(name)").text == whole, "\(name) is not whole")
        }
        #expect(try files(home).count == stored.count, "debris of the killed")
    }

    /// All files of the store, except the permanent lock that serializes batches.
    private func files(_ home: Home) throws -> [Substring] {
        try home.shell("find data -type f -not -path '*/.batch/lock'").text.split(separator: "\n")
    }
}

extension Home {
    /// Makes processes import their values at once, and checks that all of them are stored.
    ///
    /// - Returns: All values.
    func checkImports(by processes: Int, of keys: Int) throws -> [String: String] {
        var expected: [String: String] = [:]
        for process in 1...processes {
            var values: [String: String] = [:]
            for key in 1...keys { values["p\(process)-k\(key)"] = String(repeating: "\(process).\(key) ", count: 20) }
            expected.merge(values) { $1 }
            try JSONEncoder().encode(values).write(to: URL(filePath: "\(path)/\(process).json"))
        }
        let ending = try shell(
            """
            for i in $(seq \(processes)); do
                ld-host import userDefaults:crowd $i.json & pids="$pids $!"
            done
            for pid in $pids; do wait $pid || echo failed; done
            """)
        #expect(ending.errors == "")
        let acknowledged = String(repeating: "imported \(keys) values into userDefaults:crowd\n", count: processes)
        #expect(ending.text == acknowledged)
        let stored = try JSONDecoder().decode(
            [String: String].self, from: Data(try done("export", "userDefaults:crowd").output))
        #expect(stored == expected)
        return expected
    }
}
