internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// The file store's durable `set` and its `get`, beside a C program that makes the same system calls.
struct FileCost {
    let setting: Setting

    func run() async throws {
        let root = "\(setting.folder)/files"
        let router = try setting.router(
            "file", in: "\(setting.plugins)/libFileStore.so", options: "{\"root\": \"\(root)\"}")
        // As long as the attribute that the store writes for the measured keys.
        let attribute =
            "{\"checksum\":\"crc32c 12345678 16384 1700000000123456789\",\"revision\":\"0123456789abcdef\","
            + "\"contentType\":\"application/octet-stream\",\"owner\":\"Benchmarks\",\"serializer\":\"data\"}"
        for (name, size) in [("128 B", 128), ("16 KiB", 16_384)] {
            let companion = try Companion("\(setting.tools)/files", ["\(setting.folder)/companion-\(size)", attribute])
            let key = Setting.key("value-\(size)", .data)
            let value = Data(repeating: 7, count: size)
            for (place, executor, limit) in [
                ("a task on IOExecutor", IOExecutor.shared, 1.1), ("any other task", nil, 1.15),
            ] {
                let sets = try await Self.on(executor) {
                    try await Comparison.rounds(41) {
                        try await Nanoseconds.each(10) {
                            for _ in 0..<10 { try await router.set(value, for: key) }
                        }
                    } baseline: {
                        try companion.ask("set \(size) 10")
                    }
                }
                Row("file store: durable `set` of \(name) from \(place); C, same system calls", sets, atMost: limit)
                    .print()
            }
            try await Self.gets(name, size, router, key, companion, "same system calls", atMost: 1.3)
            let threaded = try Companion(
                "\(setting.tools)/files", ["\(setting.folder)/threaded-\(size)", attribute, "threaded"])
            _ = try threaded.ask("set \(size) 1")
            try await Self.gets(name, size, router, key, threaded, "same system calls, with a second thread as we have")
        }
        try await batches(attribute)
    }

    /// Both sides are C programs: one calls the plugin's table. The other makes the fewest system calls that replace
    /// the values durably, but without atomicity.
    private func batches(_ attribute: String) async throws {
        let ours = try Companion(
            "\(setting.tools)/batches",
            ["\(setting.plugins)/libFileStore.so", "file", "{\"root\": \"\(setting.folder)/batches\"}"])
        let plain = try Companion("\(setting.tools)/files", ["\(setting.folder)/companion-batches", attribute])
        let times = try await Comparison.rounds(21) {
            try ours.ask("batch 128 1000")
        } baseline: {
            try plain.ask("batch 128 1000")
        }
        let what = "file store: batch of 1,000 sets of 128 B, all or none; C, write, `syncfs`, rename, `fsync`"
        Row(what, times, atMost: 1.3).print()
    }

    private static func gets(
        _ name: String, _ size: Int, _ router: StorageRouter, _ key: StorageKey<Data>, _ companion: Companion,
        _ baseline: String, atMost limit: Double? = nil
    ) async throws {
        let times = try await on(nil) {
            try await Comparison.rounds(21) {
                var bytes = 0
                let time = try await Nanoseconds.each(5000) {
                    for _ in 0..<5000 { bytes += try await router.get(key).count }
                }
                try require(bytes == 5000 * size, "the router gave \(bytes) bytes")
                return time
            } baseline: {
                try companion.ask("get \(size) 5000")
            }
        }
        Row("file store: `get` of \(name); C, \(baseline)", times, atMost: limit).print()
    }

    private static func on(
        _ executor: IOExecutor?, _ body: sending @escaping @isolated(any) () async throws -> Comparison
    ) async throws -> Comparison {
        try await Task(executorPreference: executor, operation: body).value
    }
}
