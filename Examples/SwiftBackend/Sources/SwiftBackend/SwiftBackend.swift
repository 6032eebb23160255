import FoundationEssentials
import Glibc
import LocalDataPluginAPI
import Synchronization

/// Keeps values in memory, and all of them in one file, which is rewritten at each change.
final class SwiftBackend: EnumerableBackend {
    static let component = ComponentInfo(
        id: "swift-backend", summary: "keeps values in one file",
        options: [.path("file", default: "${data}/swift-backend.plist", help: "where the values are kept")])

    /// Reading never waits; a power loss may undo the last changes; one process at a time uses the file.
    let properties = StoreProperties(latency: .disk, isDurable: false, isShared: false)

    /// A value as the file has it.
    private struct Record: Codable {
        let domain: String
        let scope: String
        let name: String
        let value: Data
    }

    private let file: String
    private let values: Mutex<[StorageAddress: Data]>
    /// Held during a change, the writing of the file included; reading does not ask for it.
    private let change = Mutex(())

    init(options: ComponentOptions, host: HostServices) throws {
        file = try options.string("file")
        values = Mutex(try Self.load(file))
    }

    func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) -> Bool {
        guard let data = values.withLock({ $0[key] }) else { return false }
        deliver(data.bytes)
        return true
    }

    func exists(_ key: StorageAddress) -> Bool { values.withLock { $0[key] != nil } }

    func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
        _ = try replace(key, with: value.withUnsafeBytes { Data($0) })
    }

    func remove(_ key: StorageAddress) throws -> Bool { try replace(key, with: nil) }

    func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
    ) {
        let keys = values.withLock { Array($0.keys) }
        let names = keys.filter { key in
            key.place == place && key.name.utf8.starts(with: prefix.utf8)
                && after.map { $0.utf8.lexicographicallyPrecedes(key.name.utf8) } ?? true
        }.map(\.name).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for name in names.prefix(limit ?? names.count) where !body(name) { return }
    }

    func forEachPlace(_ body: (StorageNamespace) -> Bool) {
        let places = values.withLock { Set($0.keys.map(\.place)) }
        for place in places where !body(place) { return }
    }

    /// Makes a change in the file first, so that one that fails has no effect; tells whether there was a value.
    private func replace(_ key: StorageAddress, with value: Data?) throws -> Bool {
        try change.withLock { _ in
            var next = values.withLock { $0 }
            let old = next.removeValue(forKey: key)
            next[key] = value
            if old != nil || value != nil { try save(next) }
            values.withLock { $0 = next }
            return old != nil
        }
    }

    private static func load(_ file: String) throws -> [StorageAddress: Data] {
        guard FileManager.default.fileExists(atPath: file) else { return [:] }
        guard let data = FileManager.default.contents(atPath: file) else {
            throw StorageError(.storeUnavailable, "'\(file)' cannot be read", hint: "check who may read it")
        }
        guard let records = try? PropertyListDecoder().decode([Record].self, from: data) else {
            throw StorageError(.corrupt, "'\(file)' is not a file of this store", hint: "restore or remove it")
        }
        let pairs = records.map {
            (StorageAddress(StorageNamespace(domain: $0.domain, scope: $0.scope), name: $0.name), $0.value)
        }
        return Dictionary(pairs) { _, last in last }
    }

    /// Writes another file and renames it over the old one, so that the file is always whole.
    private func save(_ values: [StorageAddress: Data]) throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let records = values.map {
            Record(domain: $0.key.place.domain, scope: $0.key.place.scope, name: $0.key.name, value: $0.value)
        }
        let draft = "\(file).new"
        do {
            let folder = URL(filePath: file).deletingLastPathComponent().path(percentEncoded: false)
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            // For nobody else, also while it is written.
            _ = FileManager.default.createFile(atPath: draft, contents: nil, attributes: [.posixPermissions: 0o600])
            try encoder.encode(records).write(to: URL(filePath: draft))
            guard rename(draft, file) == 0 else {
                throw StorageError(.fileError, "'\(file)' cannot be replaced: \(String(cString: strerror(errno)))")
            }
        } catch let error as StorageError {
            throw error
        } catch {
            throw StorageError(.fileError, "'\(file)' cannot be written: \(error)", hint: "check its folder")
        }
    }
}
