import CLinux
@testable import FileStore
import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

/// A store in a temporary folder, with values as bytes.
struct StoreFixture: Sendable {
    let folder: TemporaryFolder
    let store: FileStore
    let place = StorageNamespace(domain: "fileSystem", scope: "documents")

    init(inMemory: Bool = false) throws {
        folder = try TemporaryFolder(inMemory: inMemory)
        store = try Self.store(root: folder.path)
    }

    static func store(root: String) throws -> FileStore {
        try FileStore(
            options: ComponentOptions(["root": .string(root)]), host: HostServices(name: "test", version: "1"))
    }

    func key(_ name: String, in place: StorageNamespace? = nil) throws -> FileKey {
        try store.resolve(StorageAddress(place ?? self.place, name: name))
    }

    func set(
        _ name: String, _ value: [UInt8], in place: StorageNamespace? = nil, attributes: ValueAttributes? = nil
    ) throws {
        try store.set(key(name, in: place), to: value.span.bytes, attributes: attributes)
    }

    func get(_ name: String, in place: StorageNamespace? = nil) throws -> [UInt8]? { try get(key(name, in: place)) }

    func get(_ key: FileKey) throws -> [UInt8]? {
        var values: [[UInt8]] = []
        let isThere = try store.get(key) { span in values.append(span.withUnsafeBytes { Array($0) }) }
        guard values.count == (isThere ? 1 : 0) else { throw DeliveredOften(count: values.count) }
        return values.first
    }

    func names(
        in place: StorageNamespace? = nil, prefix: String = "", after: String? = nil, limit: Int? = nil
    ) throws -> [[UInt8]] {
        var names: [[UInt8]] = []
        try store.forEachName(in: place ?? self.place, prefix: prefix, after: after, limit: limit) {
            names.append(Array($0.utf8))
            return true
        }
        return names
    }

    func places() throws -> Set<StorageNamespace> {
        var places: Set<StorageNamespace> = []
        try store.forEachPlace { place in
            guard places.insert(place).inserted else { return false }
            return true
        }
        return places
    }

    /// Waits until every file and folder is old enough for its times to show the next change: before that, the store
    /// keeps nothing that it has read.
    func age() throws {
        let paths = try [""] + FileManager.default.subpathsOfDirectory(atPath: folder.path)
        for path in paths {
            var (status, now) = (stat(), timespec())
            repeat {
                try #require(lstat("\(folder.path)/\(path)", &status) == 0 && clock_gettime(CLOCK_REALTIME, &now) == 0)
            } while Self.milliseconds(now) - Self.milliseconds(status.st_ctim) < 150 && usleep(1000) == 0
        }
    }

    private static func milliseconds(_ time: timespec) -> Int { time.tv_sec * 1000 + time.tv_nsec / 1_000_000 }

    private struct DeliveredOften: Error { let count: Int }
}
