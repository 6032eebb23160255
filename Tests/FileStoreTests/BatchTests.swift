@testable import FileStore
import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@Suite("Batches")
struct BatchTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func change(
        _ name: String, _ value: [UInt8]?, in place: StorageNamespace? = nil, attributes: ValueAttributes? = nil
    ) throws -> StorageChange<FileKey> {
        StorageChange(key: try fixture.key(name, in: place), value: value.map { Data($0) }, attributes: attributes)
    }

    @Test("keep values with their attributes, in namespaces with and without their own folder")
    func places() throws {
        let own = StorageNamespace(domain: "own", directory: fixture.folder.path + "-own")
        defer { try? FileManager.default.removeItem(atPath: fixture.folder.path + "-own") }
        try fixture.set("removed", [1])
        try fixture.store.apply([
            change("a", [1], attributes: ValueAttributes(serializer: "json", owner: "me")), change("empty", []),
            change("b", [2], in: own), change("removed", nil),
            change(String(repeating: "Long", count: 200), [3]),
        ])
        #expect(try fixture.get("a") == [1])
        #expect(try fixture.store.attributes(of: fixture.key("a"))?.owner == "me")
        #expect(try fixture.store.attributes(of: fixture.key("empty"))?.owner == nil)
        #expect(try fixture.get("empty") == [])
        #expect(try fixture.get("b", in: own) == [2])
        #expect(try fixture.get("removed") == nil)
        #expect(try fixture.names().count == 3)
        #expect(try fixture.places() == [fixture.place])
    }

    @Test("that cannot be applied change nothing, and name the file")
    func refused() throws {
        try fixture.set("a", [1])
        let path = fixture.folder.path + "/fileSystem@documents/b"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let error = #expect(throws: StorageError.fileError) {
            try fixture.store.apply([change("a", [2]), change("b", [2]), change("c", [2])])
        }
        #expect(error?.message.contains("'\(path)' is a folder") == true)
        #expect(try fixture.get("a") == [1])
        #expect(try fixture.get("c") == nil)
    }

    @Test("that a crash has interrupted are complete once the store is opened again")
    func interrupted() throws {
        let place = fixture.folder.path + "/fileSystem@documents"
        let journal = fixture.folder.path + "/.batch/journal"
        try fixture.set("a", [1])
        // This test cannot place an obstructing folder while the batch runs. So it reverts the end of a whole batch to
        // the state that a crash before it would leave.
        try fixture.store.apply([change("a", [2]), change("b", [2])])
        let staged = "\(place)/.tmp/.0123456789abcdef-1"
        try FileManager.default.moveItem(atPath: place + "/b", toPath: staged)
        try Data(Self.journal).write(to: URL(filePath: journal))
        let reopened = try StoreFixture.store(root: fixture.folder.path)
        #expect(try reopened.exists(fixture.key("b")))
        #expect(try fixture.get("b") == [2])
        #expect(!fixture.folder.exists(".batch/journal"))
    }

    /// A journal in which `fileSystem@documents/a` and `.../b` get new content. It is written here byte by byte,
    /// because later versions have to read it.
    private static let journal: [UInt8] = {
        var bytes = Array("LDBATCH".utf8) + [1] + Array("0123456789abcdef".utf8)
        bytes += [1, 0, 0, 0, 1, 20, 0, 0, 0] + Array("fileSystem@documents".utf8)
        bytes += [2, 0, 0, 0]
        for name in ["a", "b"] { bytes += [0, 0, 0, 0, 1, 1, 0, 0, 0] + Array(name.utf8) }
        let sum = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return bytes + (0..<8).map { UInt8(truncatingIfNeeded: sum >> ($0 * 8)) }
    }()

    @Test("that cannot be completed prevent a store from being opened, and the error gives the reason")
    func stuck() throws {
        try fixture.set("a", [1])
        let place = fixture.folder.path + "/fileSystem@documents"
        try FileManager.default.createDirectory(atPath: place + "/b", withIntermediateDirectories: false)
        try Data([2]).write(to: URL(filePath: place + "/.tmp/.0123456789abcdef-1"))
        try FileManager.default.createDirectory(
            atPath: fixture.folder.path + "/.batch", withIntermediateDirectories: false)
        try Data(Self.journal).write(to: URL(filePath: fixture.folder.path + "/.batch/journal"))
        let error = #expect(throws: StorageError.storeUnavailable) {
            try StoreFixture.store(root: fixture.folder.path)
        }
        #expect(error?.message.contains("was interrupted and cannot be completed") == true)
        #expect(error?.message.contains("'\(place)/b'") == true)
        #expect(throws: StorageError.fileError) { try fixture.set("c", [1]) }
        #expect(throws: StorageError.fileError) { try fixture.store.remove(fixture.key("a")) }
        #expect(try fixture.get("a") == [1])
    }
}
