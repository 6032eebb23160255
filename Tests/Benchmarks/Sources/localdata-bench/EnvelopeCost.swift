internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// The cost that the whole envelope adds to a typed `set` and `get`: a separate key for each record, header,
/// attributes, and the cipher over chunks. The store is in memory, so that little else counts.
struct EnvelopeCost {
    let setting: Setting
    private static let ciphers: [(String, SecurityPolicy.EncryptionPolicy)] = [
        ("AES-256-GCM", .aes256()), ("ChaCha20-Poly1305", .chacha20Poly1305()),
    ]
    private static let sizes = [("128 B", 128, 500), ("16 KiB", 16_384, 200), ("1 MiB", 1_048_576, 10)]

    func run() async throws {
        let router = try setting.sealing()
        for (name, policy) in Self.ciphers {
            for (words, size, calls) in Self.sizes {
                let sealed = Setting.key("sealed-\(name)-\(size)", .data, security: .encrypted(policy))
                let plain = Setting.key("plain-\(name)-\(size)", .data)
                let value = Data(repeating: 7, count: size)
                let sets = try await Task(executorPreference: IOExecutor.shared) {
                    try await Comparison.rounds(7) {
                        try await Self.sets(router, sealed, value, calls)
                    } baseline: {
                        try await Self.sets(router, plain, value, calls)
                    }
                }.value
                Self.row("`set` of \(words), memory store, envelope with \(name); with security `none`", sets).print()
                let gets = try await Task(executorPreference: IOExecutor.shared) {
                    try await Comparison.rounds(7) {
                        try await Self.gets(router, sealed, size, calls)
                    } baseline: {
                        try await Self.gets(router, plain, size, calls)
                    }
                }.value
                Self.row("`get` of the same", gets).print()
            }
        }
    }

    private static func row(_ what: String, _ times: Comparison) -> Row {
        Row(
            what: what, ours: microseconds(times.ours), baseline: microseconds(times.baseline),
            ratio: "+\(microseconds(times.difference))")
    }

    private static func sets(
        _ router: StorageRouter, _ key: StorageKey<Data>, _ value: Data, _ calls: Int
    ) async throws -> Double {
        try await Nanoseconds.each(calls) { for _ in 0..<calls { try await router.set(value, for: key) } }
    }

    private static func gets(
        _ router: StorageRouter, _ key: StorageKey<Data>, _ size: Int, _ calls: Int
    ) async throws -> Double {
        var bytes = 0
        let time = try await Nanoseconds.each(calls) {
            for _ in 0..<calls { bytes += try await router.get(key).count }
        }
        try require(bytes == calls * size, "the router gave \(bytes) bytes")
        return time
    }
}
