internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// The SQLite store beside a C program with prepared statements on a database of the same tables and settings: through
/// the router, and through the plugin's table alone.
struct DatabaseCost {
    let setting: Setting
    /// The number of values in the large database.
    private static let many = 1_000_000

    func run() async throws {
        let options = "{\"path\": \"\(setting.folder)/values.sqlite\"}"
        let library = "\(setting.plugins)/libSQLiteStore.so"
        let router = try setting.router("sqlite", in: library, options: options)
        let baseline = try Companion("\(setting.tools)/sqlite", ["\(setting.folder)/companion.sqlite"])
        try await sets(router, baseline)
        let path = "\(setting.folder)/many.sqlite"
        let complete = "{\"path\": \"\(path)\", \"synchronous\": \"full\", \"largestValue\": 1000000000}"
        let table = try Companion("\(setting.tools)/store", [library, "sqlite", complete])
        try await Self.row("batch of 1,000 sets of 128 B", "batch 128 1", table, baseline, rounds: 21, atMost: 1.25)
        for companion in [table, baseline] { _ = try companion.ask("fill \(Self.many) 128") }
        try await Self.row("`get` of 128 B, of 1,000,000", "get \(Self.many) 5000", table, baseline, rounds: 21)
        try await checked(library)
        let large = try setting.router("sqlite", in: library, options: "{\"path\": \"\(path)\"}")
        try await gets(large, baseline)
        try await opening(table, baseline)
        try listing(table)
    }

    /// The cost of a checksum shows with a large value.
    private func checked(_ library: String) async throws {
        let options = "\"synchronous\": \"full\", \"largestValue\": 1000000000}"
        let table = try Companion(
            "\(setting.tools)/store", [library, "sqlite", "{\"path\": \"\(setting.folder)/16.sqlite\", \(options)"])
        let baseline = try Companion("\(setting.tools)/sqlite", ["\(setting.folder)/companion-16.sqlite"])
        for companion in [table, baseline] { _ = try companion.ask("fill 100 16384") }
        try await Self.row("`get` of 16 KiB, with its checksum", "get 100 5000", table, baseline, rounds: 21)
    }

    private func sets(_ router: StorageRouter, _ baseline: Companion) async throws {
        let key = Setting.key("set", .data)
        let value = Data(repeating: 7, count: 128)
        for (place, executor, limit) in [
            ("a task on IOExecutor", IOExecutor.shared, 1.1), ("any other task", nil, 1.3),
        ] {
            let times = try await Self.on(executor) {
                try await Comparison.rounds(41) {
                    try await Nanoseconds.each(10) { for _ in 0..<10 { try await router.set(value, for: key) } }
                } baseline: {
                    try baseline.ask("set 128 10")
                }
            }
            Row("SQLite store: durable `set` of 128 B from \(place); C, prepared statements", times, atMost: limit)
                .print()
        }
    }

    /// Sends the same line to both programs.
    private static func row(
        _ what: String, _ line: String, _ table: Companion, _ baseline: Companion, rounds: Int,
        atMost limit: Double = 1.3
    ) async throws {
        let times = try await Comparison.rounds(rounds) {
            try table.ask(line)
        } baseline: {
            try baseline.ask(line)
        }
        Row("SQLite store, called from C: \(what); prepared statements", times, atMost: limit).print()
    }

    private func gets(_ router: StorageRouter, _ baseline: Companion) async throws {
        // As in the C program, the names are spread over all values.
        let keys = (0..<5000).map { Setting.key(Self.name($0 * 7919 % Self.many), .data) }
        let times = try await Self.on(nil) {
            try await Comparison.rounds(21) {
                var bytes = 0
                let time = try await Nanoseconds.each(keys.count) {
                    for key in keys { bytes += try await router.get(key).count }
                }
                try require(bytes == 128 * keys.count, "the router gave \(bytes) bytes")
                return time
            } baseline: {
                try baseline.ask("get \(Self.many) 5000")
            }
        }
        Row("SQLite store: typed `get` of 128 B, of 1,000,000; C, prepared statement", times, atMost: 1.3).print()
    }

    private func opening(_ table: Companion, _ baseline: Companion) async throws {
        let line = "open \(Self.many) 1"
        let times = try await Comparison.rounds(11) {
            try table.ask(line)
        } baseline: {
            try baseline.ask(line)
        }
        Row(
            what: "SQLite store of 1,000,000 values: open and first `get`; C", ours: microseconds(times.ours),
            baseline: microseconds(times.baseline), ratio: decimal(times.ratio, 2), aim: "< 50 ms",
            isMet: times.ours < 50e6
        ).print()
    }

    private func listing(_ table: Companion) throws {
        let before = try table.ask("memory 0 0")
        let time = try table.ask("list \(Self.many) 0")
        let added = try table.ask("memory 0 0") - before
        Row(
            what: "SQLite store: listing of 1,000,000 names by prefix, each; the memory that it adds",
            ours: microseconds(time), baseline: "\(decimal(added, 0)) KiB", ratio: "", aim: "<= 8 MiB",
            isMet: added <= 8192
        ).print()
    }

    private static func name(_ index: Int) -> String {
        let digits = String(index)
        return "key-" + String(repeating: "0", count: 7 - digits.count) + digits
    }

    private static func on(
        _ executor: IOExecutor?, _ body: sending @escaping @isolated(any) () async throws -> Comparison
    ) async throws -> Comparison {
        try await Task(executorPreference: executor, operation: body).value
    }
}
