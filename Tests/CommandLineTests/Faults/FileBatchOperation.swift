import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

/// A batch that the campaign disturbs: names with their values before and afterwards.
struct FileBatchOperation: Sendable, CustomTestStringConvertible {
    struct Change: Sendable {
        let place: String
        let name: String
        var old: String?
        var new: String?
    }

    let name: String
    let changes: [Change]
    /// Whether the home is empty before the batch.
    var isHomeEmpty = false

    var testDescription: String { name }

    /// So long that its file is in folders of its own.
    private static let long = String(repeating: "Long", count: 100)
    private static let mixed = [
        Change(place: "one", name: "new", new: "1"), Change(place: "one", name: "replaced", old: "old", new: "2"),
        Change(place: "one", name: "removed", old: "old"), Change(place: "two", name: long, old: "old"),
        Change(place: "two", name: long + "er", new: "3"),
        Change(place: elsewhere, name: "replaced", old: "old", new: "4"),
        Change(place: elsewhere, name: "removed", old: "old"),
    ]
    /// The namespace with a separate folder.
    private static let elsewhere = "elsewhere"

    static let all = [
        FileBatchOperation(
            name: "first batch in an empty home",
            changes: [Change(place: "one", name: "a", new: "1"), Change(place: elsewhere, name: "b", new: "2")],
            isHomeEmpty: true),
        FileBatchOperation(name: "batch of few", changes: mixed),
        FileBatchOperation(
            name: "batch of removals",
            changes: [Change(place: "one", name: "a", old: "1"), Change(place: "two", name: long, old: "2")]),
        // As many changes as it takes for the store to synchronize the whole file system.
        FileBatchOperation(
            name: "batch of many",
            changes: mixed
                + (0..<30).map { Change(place: "one", name: "\($0)", old: $0 % 3 == 0 ? "old" : nil, new: "n") }),
    ]

    /// Opens the store of a home, as a router does.
    static func open(_ home: String) throws(StorageError) -> LoadedStore {
        try PluginImage.load("\(BuiltProducts.folder)/libFileStore.so").openStore(
            "file", options: ["root": .string("\(home)/data/files")], folder: home, log: SilentLog())
    }

    /// Makes the state before.
    func prepare(_ home: String) throws {
        if isHomeEmpty { return }
        let store = try Self.open(home)
        defer { store.close() }
        try store.with("sibling", "sibling", home) { try store.set($0, to: Data("sibling".utf8), attributes: nil) }
        for change in changes {
            guard let old = change.old else { continue }
            try store.with(change.place, change.name, home) {
                try store.set($0, to: Data(old.utf8), attributes: nil)
            }
        }
    }

    func apply(to store: LoadedStore, _ home: String) throws(StorageError) {
        var batch: [StorageChange<StoreHandle>] = []
        for change in changes {
            let handle = try store.resolve(store.address(change.place, change.name, home))
            let attributes = ValueAttributes(serializer: "string", owner: "batch")
            batch.append(
                StorageChange(key: handle, value: change.new.map { Data($0.utf8) }, attributes: attributes))
        }
        try store.apply(batch)
    }

    /// The current values, in the order of the changes.
    func values(in store: LoadedStore, _ home: String) throws -> [String?] {
        try changes.map { change in
            try store.with(change.place, change.name, home) {
                try store.get($0).map { String(decoding: $0, as: UTF8.self) }
            }
        }
    }
}

extension LoadedStore {
    fileprivate func address(_ place: String, _ name: String, _ home: String) -> StorageAddress {
        let directory = place == "elsewhere" ? "\(home)/data/elsewhere" : nil
        return StorageAddress(StorageNamespace(domain: "batch", scope: place, directory: directory), name: name)
    }

    /// Resolves a name for one call.
    func with<Result>(
        _ place: String, _ name: String, _ home: String, _ body: (StoreHandle) throws -> Result
    ) throws -> Result {
        let handle = try resolve(address(place, name, home))
        defer { release(handle) }
        return try body(handle)
    }
}
