import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport

/// The built plugin, opened through the boundary as by a host, with a separate schema.
struct OpenStore: Sendable {
    static let plugin = BuiltProducts.plugin("PostgreSQLStore")
    let store: LoadedStore
    let schema: String
    let place = StorageNamespace(domain: "userDefaults", scope: "tests")

    /// - Parameter schema: `nil` for a new one.
    init(_ uri: String, schema: String? = nil, _ options: [String: ComponentOption.Value] = [:]) throws {
        self.schema = schema ?? Self.newSchema()
        let own: [String: ComponentOption.Value] = ["uri": .string(uri), "schema": .string(self.schema)]
        store = try PluginImage.load(Self.plugin)
            .openStore(
                "postgresql", options: options.merging(own) { given, _ in given }, folder: "/nonexistent",
                log: SilentLog())
    }

    static func newSchema() -> String { "s\(UInt64.random(in: 0 ... .max))" }

    private func with<Result>(_ name: String, _ body: (StoreHandle) throws -> Result) throws -> Result {
        let handle = try store.resolve(StorageAddress(place, name: name))
        defer { store.release(handle) }
        return try body(handle)
    }

    func set(_ name: String, _ value: Data, _ attributes: ValueAttributes? = nil) throws {
        try with(name) { try store.set($0, to: value, attributes: attributes) }
    }

    func set(_ name: String, _ text: String) throws { try set(name, Data(text.utf8)) }

    func get(_ name: String) throws -> Data? { try with(name) { try store.get($0) } }

    func text(_ name: String) throws -> String? { try get(name).map { String(decoding: $0, as: UTF8.self) } }

    func remove(_ name: String) throws -> Bool { try with(name) { try store.remove($0) } }

    /// Stores a value if the condition holds; `nil` if it does not.
    func set(_ name: String, _ text: String, if condition: WriteCondition) throws -> UInt64? {
        try with(name) { try store.set($0, to: Data(text.utf8), attributes: nil, if: condition) }
    }

    func remove(_ name: String, ifRevision revision: UInt64) throws -> Bool {
        try with(name) { try store.remove($0, ifRevision: revision) }
    }

    /// A value and its revision.
    func revisioned(_ name: String) throws -> (text: String, revision: UInt64)? {
        try with(name) { try store.revisioned($0) }.map { (String(decoding: $0.data, as: UTF8.self), $0.revision) }
    }

    /// Stores values, or removes those without a text, all or none.
    func apply(_ changes: [(name: String, text: String?)]) throws {
        let handles = try changes.map { try store.resolve(StorageAddress(place, name: $0.name)) }
        defer { for handle in handles { store.release(handle) } }
        try store.apply(
            zip(handles, changes).map { StorageChange(key: $0, value: $1.text.map { Data($0.utf8) }) })
    }

    /// Stores values in a transaction that has read them.
    func commit(_ changes: [(name: String, text: String)]) throws {
        let handles = try changes.map { try store.resolve(StorageAddress(place, name: $0.name)) }
        defer { for handle in handles { store.release(handle) } }
        let transaction = try store.begin()
        for (handle, change) in zip(handles, changes) {
            try store.set(handle, to: Data(change.text.utf8), attributes: nil, in: transaction)
        }
        try store.commit(transaction)
    }

    /// All values of one moment.
    func values() throws -> [String: String] {
        var values: [String: String] = [:]
        try store.forEachValue(in: place) { value in
            values[String(decoding: value.name, as: UTF8.self)] = value.value.map {
                String(decoding: $0, as: UTF8.self)
            }
            return true
        }
        return values
    }

    func names(prefix: String = "", after: String? = nil) throws -> [String] {
        var names: [String] = []
        try store.forEachName(in: place, prefix: prefix, after: after, limit: nil) {
            names.append($0)
            return true
        }
        return names
    }

    func findings() throws -> [String] {
        var findings: [String] = []
        try store.check {
            findings.append($0)
            return true
        }
        return findings
    }

    /// Writes a value in pieces of 64 KiB; the same seed gives the same bytes.
    func write(_ name: String, seed: UInt64, pieces: Int) throws {
        try with(name) { handle in
            var index = 0
            try store.write(handle, attributes: nil) { buffer in
                guard index < pieces else { return 0 }
                let bytes = SeededGenerator.bytes(min(buffer.count, 64 << 10), seed: seed &+ UInt64(index))
                guard bytes.count == 64 << 10 else { throw TestFailure("a small buffer") }
                buffer.copyBytes(from: bytes)
                index += 1
                return bytes.count
            }
        }
    }

    /// The checksum (FNV-1a) and the size of a value, read in pieces.
    func digest(_ name: String) throws -> (hash: UInt64, size: Int) {
        var (hash, size) = (UInt64(0xcbf2_9ce4_8422_2325), 0)
        try with(name) { handle in
            _ = try store.read(handle) { piece in
                for byte in piece { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
                size += piece.count
                return true
            }
        }
        return (hash, size)
    }
}
