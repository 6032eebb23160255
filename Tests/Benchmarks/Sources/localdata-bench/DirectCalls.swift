internal import FoundationEssentials
internal import LocalDataAPI

/// The memory store's own code, compiled into this program and called without any boundary.
struct DirectCalls: Sendable {
    private let store: MemoryStore
    private let cell: MemoryCell

    init(_ value: Data) {
        store = MemoryStore(options: ComponentOptions(), host: HostServices(name: "bench", version: "1"))
        cell = store.resolve(StorageAddress(StorageNamespace(domain: "bench", scope: ""), name: "value"))
        store.set(cell, to: value.bytes, attributes: nil)
    }

    /// The time of one `get` whose bytes become a `Data`, as a typed `get` returns it.
    func gets(_ calls: Int) async throws -> Double {
        var bytes = 0
        let time = await Nanoseconds.each(calls) { for _ in 0..<calls { bytes += get().count } }
        try require(bytes == calls * 128, "the store gave \(bytes) bytes")
        return time
    }

    @inline(never)
    private func get() -> Data {
        var data = Data()
        _ = try? store.get(cell) { span in data = span.withUnsafeBytes { Data($0) } }
        return data
    }

    /// The time of one `set`.
    func sets(_ calls: Int, _ value: Data) async -> Double {
        await Nanoseconds.each(calls) { for _ in 0..<calls { set(value) } }
    }

    @inline(never)
    private func set(_ value: Data) {
        store.set(
            cell, to: value.bytes,
            attributes: ValueAttributes(
                contentType: "application/octet-stream", serializer: "data", owner: "Benchmarks"))
    }
}
