import FoundationEssentials
import Testing

/// Ten times as many values must take about ten times as much work, and no more memory. The work is counted in system
/// calls, whose number is the same on every machine; `Tests/Benchmarks/run growth` measures times.
@Suite("Work that grows evenly", .serialized)
struct GrowthTests {
    private static let library = Result {
        try PreloadedLibrary.build("calls", prefix: "calls", in: "CommandLineTests/Programs")
    }

    /// The kinds of stores for `left` and `right`, to which values are copied and moved.
    private static let kinds = ["files", "databases", "sealed files"]

    private static func store(_ kind: String, _ name: String) -> String {
        switch kind {
        case "databases": #"{"component":"sqlite","options":{"path":"'$HOME'/\#(name).sqlite"}}"#
        case "files": #"{"component":"file","options":{"root":"'$HOME'/\#(name)"}}"#
        default: #"{"component":"file","options":{"root":"'$HOME'/\#(name)"},"sealing":"keyFile"}"#
        }
    }

    /// Every command that visits every value, in an order in which each finds values.
    private static func commands(_ kind: String) -> [String] {
        [
            "import left values.json", "ls left", "ls -l left", "export left", "audit", "doctor --scrub",
            "store copy left right",
        ] + (kind.hasPrefix("sealed") ? ["keys rotate --store left", "reseal --store left"] : []) + [
            "migrate plan", "migrate run", "migrate rollback all",
        ]
    }

    /// The number of system calls that each command makes with so many values.
    private func calls(_ kind: String, _ count: Int) throws -> [String: Int] {
        let home = try Home()
        try write(count, to: home)
        let manifest = #"[{"id":"all","move":{"from":"left/*","to":"right/*"}}]"#
        let pack = #"{"component":"standard","options":{"manifest":\#(manifest)}}"#
        let set = [
            "stores.left '\(Self.store(kind, "left"))'", "stores.right '\(Self.store(kind, "right"))'",
            "domains.left left", "domains.right right", "migrations.packs.ours '\(pack)'",
        ]
        let script =
            set.map { "ld-host config set \($0) 2> out || exit 1" }
            + Self.commands(kind).map {
                """
                CALLS_FILE=$HOME/calls LD_PRELOAD=$LIBRARY ld-host \($0) > out 2> errors || { cat errors; exit 1; }
                cat calls
                """
            }
        let ending = try home.shell(
            script.joined(separator: "\n"), adding: ["LIBRARY": try Self.library.get()])
        try #require(ending.status == 0, "\(ending.text) \(ending.errors)")
        let counts = ending.text.split(separator: "\n").compactMap { Int($0) }
        try #require(counts.count == Self.commands(kind).count, "\(ending.text)")
        return Dictionary(uniqueKeysWithValues: zip(Self.commands(kind), counts))
    }

    private func write(_ count: Int, to home: Home) throws {
        let values = Dictionary(uniqueKeysWithValues: (0..<count).map { ("key-\($0)", "value \($0)") })
        try JSONEncoder().encode(values).write(to: URL(filePath: "\(home.path)/values.json"))
    }

    @Test("ten times as many values take at most twelve times as many system calls, in each command", arguments: kinds)
    func calls(_ kind: String) throws {
        let (few, many) = (try calls(kind, 200), try calls(kind, 2000))
        for (command, count) in many {
            let before = try #require(few[command])
            // If there are hardly any calls, the counting itself is broken.
            #expect(before > 50)
            #expect(count <= 12 * before, "\(command): \(before), then \(count)")
        }
    }

    @Test("an import of ten times as many values takes no more memory, but for their names")
    func importing() throws {
        func peak(_ count: Int) throws -> Int {
            let home = try Home()
            try write(count, to: home)
            let ending = try home.shell(
                "\(LargeValueTests.measured) ld-host import userDefaults values.json > out || exit 1")
            #expect(ending.status == 0, "\(ending.errors)")
            return try #require(ending.errors.split(separator: "\n").last.flatMap { Int($0) }, "\(ending.errors)")
        }
        let (few, many) = (try peak(2500), try peak(25_000))
        #expect(few > 1024)
        #expect(many - few <= 16 << 10, "\(few) KiB, then \(many) KiB")
    }
}
