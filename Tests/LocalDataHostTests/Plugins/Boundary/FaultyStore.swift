import FoundationEssentials
import LocalDataAPI

/// A store that fails as the name of a key requests: `code 39`, `other`, `bare`; any other name is ordinary.
final class FaultyStore: StreamingBackend {
    static let component = ComponentInfo(
        id: "faulty", summary: "a store that fails on demand",
        options: [.string("fail", default: "", help: "fail already when it is opened")])

    /// An error type that the host does not know.
    struct Odd: Error, CustomStringConvertible {
        let description = "an odd thing happened"
    }

    let properties = StoreProperties(latency: .memory, isDurable: false, isShared: false)
    private let values: FullStore

    init(options: ComponentOptions, host: HostServices) throws {
        try Self.fail(for: options.string("fail"))
        values = FullStore(options: options, host: host)
    }

    func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) throws -> Bool {
        try Self.fail(for: key.name)
        return values.get(key, deliver)
    }

    func exists(_ key: StorageAddress) throws -> Bool {
        try Self.fail(for: key.name)
        return values.exists(key)
    }

    func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
        try Self.fail(for: key.name)
        values.set(key, to: value, attributes: attributes)
    }

    func remove(_ key: StorageAddress) throws -> Bool {
        try Self.fail(for: key.name)
        return values.remove(key)
    }

    func read(_ key: StorageAddress, _ body: (RawSpan) -> Bool) throws -> Bool {
        try Self.fail(for: key.name)
        return values.read(key, body)
    }

    func write(
        _ key: StorageAddress, attributes: ValueAttributes?, from source: ((RawSpan) throws -> Void) throws -> Void
    ) throws {
        try Self.fail(for: key.name)
        do { try values.write(key, attributes: attributes, from: source) } catch  where key.name == "wraps" {
            throw StorageError(.fileError, "the faulty store blames a file")
        }
    }

    private static func fail(for name: String) throws {
        if name == "other" { throw Odd() }
        if name == "bare" { throw StorageError.busy }
        let parts = name.split(separator: " ")
        if parts.first == "code", let number = parts.last.flatMap({ Int32($0) }) {
            throw StorageError(
                StorageError.Code(rawValue: number), "what failed: “\(number)”", hint: "what to do: \(number) ✓")
        }
    }
}
