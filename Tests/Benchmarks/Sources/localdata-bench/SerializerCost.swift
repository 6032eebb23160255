internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// The time that each serializer adds to a `get` of raw bytes.
struct SerializerCost {
    /// A value such as apps store.
    private struct Profile: Codable, Equatable, Sendable {
        var name = "Ada Lovelace"
        var age = 36
        var tags = ["mathematics", "engines"]
        var isActive = true
    }

    let setting: Setting
    private static let calls = 20_000

    func run() async throws {
        let router = try setting.memory()
        let bytes = Setting.key("bytes", .data)
        try await router.set(Data(repeating: 7, count: 128), for: bytes)
        let text = String(repeating: "x", count: 100)
        try await Self.measure("json String of 100 B", router, bytes, Setting.key("text", .json), text)
        try await Self.measure("json struct of 4 members", router, bytes, Setting.key("json", .json), Profile())
        try await Self.measure("plist struct of 4 members", router, bytes, Setting.key("plist", .plist), Profile())
    }

    private static func measure<Value: Codable & Equatable & Sendable>(
        _ what: String, _ router: StorageRouter, _ bytes: StorageKey<Data>, _ key: StorageKey<Value>, _ value: Value
    ) async throws {
        try await router.set(value, for: key)
        let stored = try await router.get(key)
        try require(stored == value, "\(what) came back as another value")
        let times = try await Task.detached {
            try await Comparison.rounds(7) {
                try await gets(router, key)
            } baseline: {
                try await gets(router, bytes)
            }
        }.value
        Row(
            what: "`get` of a \(what); `get` of 128 B of data", ours: microseconds(times.ours),
            baseline: microseconds(times.baseline), ratio: "+\(microseconds(times.difference))"
        ).print()
    }

    private static func gets<Value>(_ router: StorageRouter, _ key: StorageKey<Value>) async throws -> Double {
        try await Nanoseconds.each(calls) { for _ in 0..<calls { _ = try await router.get(key) } }
    }
}
