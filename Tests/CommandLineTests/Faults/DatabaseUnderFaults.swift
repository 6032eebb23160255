import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

/// The SQLite store on a database of a home, opened as a host does.
struct DatabaseUnderFaults {
    private let store: LoadedStore
    private let place = StorageNamespace(domain: "userDefaults", scope: "faults")

    init(in home: String) throws {
        store = try PluginImage.load("\(BuiltProducts.folder)/libSQLiteStore.so")
            .openStore(
                "sqlite", options: ["path": .string("\(home)/data/values.sqlite")], folder: "/nonexistent",
                log: SilentLog())
    }

    func close() { store.close() }

    func set(_ name: String, _ value: Data) throws {
        try with(name) { try store.set($0, to: value, attributes: nil) }
    }

    func remove(_ name: String) throws { _ = try with(name) { try store.remove($0) } }

    /// Writes in pieces.
    func write(_ name: String, _ value: Data) throws {
        try with(name) { handle in
            var rest = value
            try store.write(handle, attributes: nil) { buffer in
                let piece = rest.prefix(min(buffer.count, 100_000))
                buffer.copyBytes(from: piece)
                rest = rest.dropFirst(piece.count)
                return piece.count
            }
        }
    }

    func apply(_ changes: [(name: String, value: Data?)]) throws {
        let resolved = try changes.map { StorageChange(key: try handle($0.name), value: $0.value) }
        defer { for change in resolved { store.release(change.key) } }
        try store.apply(resolved)
    }

    /// Sets one value and removes another in a transaction that has read both.
    func exchange(set: (name: String, value: Data), remove: String) throws {
        try with(set.name) { first in
            try with(remove) { second in
                let transaction = try store.begin()
                _ = try store.get(first, in: transaction)
                try store.set(first, to: set.value, in: transaction)
                _ = try store.remove(second, in: transaction)
                try store.commit(transaction)
            }
        }
    }

    func values() throws -> DatabaseOperation.Values {
        var names: [String] = []
        try store.forEachName(in: place) {
            names.append($0)
            return true
        }
        return try names.reduce(into: [:]) { values, name in
            values[name] = try with(name) { try store.get($0) }
        }
    }

    func findings() throws -> [String] {
        var findings: [String] = []
        try store.check {
            findings.append($0)
            return true
        }
        return findings
    }

    private func handle(_ name: String) throws -> StoreHandle { try store.resolve(StorageAddress(place, name: name)) }

    private func with<Result>(_ name: String, _ body: (StoreHandle) throws -> Result) throws -> Result {
        let handle = try handle(name)
        defer { store.release(handle) }
        return try body(handle)
    }
}
