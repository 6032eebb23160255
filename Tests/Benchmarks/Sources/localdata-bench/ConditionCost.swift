internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// The cost that a condition adds to a write, and expiry to a read.
struct ConditionCost {
    let setting: Setting

    func run() async throws {
        let options = "{\"path\": \"\(setting.folder)/conditions.sqlite\", \"synchronous\": \"normal\"}"
        let router = try setting.router("sqlite", in: "\(setting.plugins)/libSQLiteStore.so", options: options)
        let (plain, conditional) = (Setting.key("plain", .data), Setting.key("conditional", .data))
        let expiring = StorageKey(
            name: "expiring", domain: plain.domain, security: .none, serializer: .data, owner: plain.owner,
            description: plain.description, lifetime: .seconds(3600))
        let value = Data(repeating: 7, count: 128)
        try await router.set(value, for: plain)
        try await router.set(value, for: expiring)
        let count = 400
        let writes = try await Comparison.rounds(21) {
            var revision = try await first(conditional, value, router)
            return try await Nanoseconds.each(count) {
                for _ in 0..<count { revision = try await router.set(value, for: conditional, ifRevision: revision) }
            }
        } baseline: {
            try await Nanoseconds.each(count) { for _ in 0..<count { try await router.set(value, for: plain) } }
        }
        Row("SQLite store: `set` with a revision; without", writes, atMost: 1.1).print()
        func gets(_ key: StorageKey<Data>) async throws -> Double {
            try await Nanoseconds.each(2000) { for _ in 0..<2000 { _ = try await router.get(key) } }
        }
        let reads = try await Comparison.rounds(21) {
            try await gets(expiring)
        } baseline: {
            try await gets(plain)
        }
        Row("SQLite store: `get` of a value that expires; of one that does not", reads, atMost: 1.1).print()
    }

    private func first(_ key: StorageKey<Data>, _ value: Data, _ router: StorageRouter) async throws -> StorageRevision
    {
        if let revision = try await router.revision(of: key) { return revision }
        return try await router.create(value, for: key)
    }
}
