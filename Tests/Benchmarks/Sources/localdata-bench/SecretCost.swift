internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// The cost of the desktop's keyring through router and plugin, compared with a C program that calls libsecret and with
/// Python's keyring. All of them use the one service on the session bus.
struct SecretCost {
    let setting: Setting
    private static let items = 1000

    func run() async throws {
        try await values(in: "default")
        try await names(in: "session")
    }

    /// Values in a collection that the service writes to its file.
    private func values(in collection: String) async throws {
        let router = try router(collection)
        let raw = try Companion("\(setting.tools)/secrets", [collection])
        let python = try Companion("\(setting.tools)/secrets-python", [collection])
        for (name, size) in [("128 B", 128), ("16 KiB", 16_384)] {
            let key = Self.key("value-\(size)")
            let value = Data(repeating: UInt8(ascii: "x"), count: size)
            for (baseline, other, limit) in [("libsecret in C", raw, 1.05), ("Python's keyring", python, nil)] {
                let sets = try await Self.compare(21, 5, "set \(size)", other) {
                    try await router.set(value, for: key)
                }
                Row("Secret Service: `set` of \(name); \(baseline)", sets, atMost: limit).print()
                let gets = try await Self.compare(21, 50, "get \(size)", other) {
                    let count = try await router.get(key).count
                    try require(count == size, "the router gave \(count) bytes")
                }
                Row("Secret Service: `get` of \(name); \(baseline)", gets, atMost: limit).print()
            }
        }
    }

    /// Names in a collection that the service keeps in memory, so that filling it is quick.
    private func names(in collection: String) async throws {
        let router = try router(collection)
        let raw = try Companion("\(setting.tools)/secrets", [collection])
        let python = try Companion("\(setting.tools)/secrets-python", [collection])
        _ = try raw.ask("fill \(Self.items) 1")
        let domain = StorageDomain.keychain(service: "raw-list")
        for (baseline, other, limit) in [("libsecret in C", raw, 1.05), ("Python's secretstorage", python, nil)] {
            let lists = try await Self.compare(7, 1, "list \(Self.items)", other) {
                let count = try await router.names(in: domain).count
                try require(count == Self.items, "the router gave \(count) names")
            }
            Row("Secret Service: names of \(Self.items) items; \(baseline)", lists, atMost: limit).print()
        }
    }

    private static func compare(
        _ rounds: Int, _ calls: Int, _ line: String, _ other: Companion,
        _ call: sending @escaping @isolated(any) () async throws -> Void
    ) async throws -> Comparison {
        try await Comparison.rounds(rounds) {
            try await Nanoseconds.each(calls) { for _ in 0..<calls { try await call() } }
        } baseline: {
            try other.ask("\(line) \(calls)")
        }
    }

    private static func key(_ name: String) -> StorageKey<Data> {
        StorageKey(
            name: name, domain: .keychain(service: "ours"), security: .keychain(accessibility: .afterFirstUnlock),
            serializer: .data, owner: "Benchmarks",
            description: "A value to measure with.")
    }

    private func router(_ collection: String) throws -> StorageRouter {
        try StorageRouter(
            configuration: HostConfiguration(
                text: """
                    {
                      "plugins": { "path": ["\(setting.plugins)/libSecretService.so"] },
                      "directories": {
                        "cache": "\(setting.folder)/cache", "data": "\(setting.folder)/data",
                        "state": "\(setting.folder)/state", "config": "\(setting.folder)/config",
                      },
                      "stores": {
                        "secrets": { "component": "secret-service", "options": { "collection": "\(collection)" } },
                      },
                      "domains": { "keychain": "secrets" },
                    }
                    """))
    }
}
