internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// The PostgreSQL store beside a C program with the same statements on the same tables of the same server: through the
/// router, and through the plugin's table alone.
struct ServerCost {
    let setting: Setting
    /// The connection URI of a server that this run started.
    let server: String
    private static let many = 1_000_000
    private static let limit = 1.15

    func run() async throws {
        let options = "{\"uri\": \"\(server)\"}"
        let library = "\(setting.plugins)/libPostgreSQLStore.so"
        let router = try setting.router("postgresql", in: library, options: options)
        // Creates the tables, and the namespace.
        try await router.set(Data(repeating: 7, count: 128), for: Setting.key("set", .data))
        let complete = """
            {"uri": "\(server)", "schema": "localdata", "passwordFile": "", "allowsUnverifiedServer": false, "owner": "", "poolSize": 8, "timeout": 10,
            "preparedStatements": "auto", "largestValue": 1000000000}
            """
        let table = try Companion("\(setting.tools)/store", [library, "postgresql", complete])
        let baseline = try Companion("\(setting.tools)/postgresql", [server, "localdata"])
        _ = try baseline.ask("fill \(Self.many) 128")
        try await sets(router, baseline)
        for (what, line, rounds) in [
            ("durable `set` of 128 B", "set 128 10", 41), ("batch of 1,000 sets of 128 B", "batch 128 1", 21),
            ("`get` of 128 B, of 1,000,000", "get \(Self.many) 500", 21),
            ("listing of 1,000,000 names by prefix, each", "list \(Self.many) 0", 5),
        ] {
            let times = try await Comparison.rounds(rounds) {
                try table.ask(line)
            } baseline: {
                try baseline.ask(line)
            }
            Row("PostgreSQL store, called from C: \(what); C, same statements", times, atMost: Self.limit).print()
        }
    }

    private func sets(_ router: StorageRouter, _ baseline: Companion) async throws {
        let key = Setting.key("set", .data)
        let value = Data(repeating: 7, count: 128)
        for (place, executor, limit) in [
            ("a task on IOExecutor", IOExecutor.shared, Self.limit), ("any other task", nil, nil),
        ] {
            try await Task(executorPreference: executor) {
                let writes = try await Comparison.rounds(41) {
                    try await Nanoseconds.each(10) { for _ in 0..<10 { try await router.set(value, for: key) } }
                } baseline: {
                    try baseline.ask("set 128 10")
                }
                Row("PostgreSQL store: durable `set` of 128 B from \(place); C, same statement", writes, atMost: limit)
                    .print()
                let reads = try await Comparison.rounds(21) {
                    try await Nanoseconds.each(500) { for _ in 0..<500 { _ = try await router.get(key) } }
                } baseline: {
                    try baseline.ask("get \(Self.many) 500")
                }
                Row("PostgreSQL store: typed `get` of 128 B from \(place); C, same statement", reads, atMost: limit)
                    .print()
            }.value
        }
    }
}
