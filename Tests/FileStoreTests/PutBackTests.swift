import CLinux
@testable import FileStore
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@Suite("A file that is overwritten in place")
struct PutBackTests {
    private let fixture: StoreFixture
    private var path: String { fixture.folder.path + "/fileSystem@documents/a" }

    init() throws { fixture = try StoreFixture() }

    /// Writes other bytes into the file of the value, as `cp -p` does: its record stays.
    private func overwrite(_ bytes: [UInt8], modified: timespec?) throws {
        var status = stat()
        try #require(stat(path, &status) == 0)
        let file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        try #require(write(file, bytes, bytes.count) == bytes.count)
        var times = [timespec](repeating: modified ?? status.st_mtim, count: 2)
        try #require(futimens(file, &times) == 0)
    }

    /// The time of the file, with only whole units of some nanoseconds.
    private func time(rounded unit: Int) throws -> timespec {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return timespec(tv_sec: status.st_mtim.tv_sec, tv_nsec: status.st_mtim.tv_nsec / unit * unit)
    }

    @Test(
        "has the bytes of the copy, whether its time is earlier or later",
        arguments: [1_577_836_800, 4_102_444_800], [[1, 2, 3], [9]] as [[UInt8]])
    func copyIsPutBack(seconds: Int, bytes: [UInt8]) throws {
        try fixture.set("a", [7, 8, 9])
        try overwrite(bytes, modified: timespec(tv_sec: seconds, tv_nsec: 5))
        #expect(try fixture.get("a") == bytes)
        #expect(try fixture.store.verify(fixture.key("a")) == .edited)
        var pieces: [UInt8] = []
        _ = try fixture.store.read(fixture.key("a")) { piece in
            pieces += piece.withUnsafeBytes { Array($0) }
            return true
        }
        #expect(pieces == bytes)
    }

    @Test(
        "is corrupt if its time is the recorded one, as exactly as the file system keeps it", arguments: [1, 100, 1000])
    func timeIsTheSame(unit: Int) throws {
        try fixture.set("a", [7, 8, 9])
        try overwrite([1, 2, 3], modified: try time(rounded: unit))
        #expect(throws: StorageError.corrupt) { try fixture.get("a") }
        #expect(throws: StorageError.corrupt) { try fixture.store.verify(fixture.key("a")) }
    }

    @Test("is corrupt on a file system that counts seconds")
    func timeIsOfTheSameSecond() throws {
        try fixture.set("a", [7, 8, 9])
        try overwrite([1, 2, 3], modified: try time(rounded: 1_000_000_000))
        #expect(throws: StorageError.corrupt) { try fixture.get("a") }
    }

    @Test("is corrupt if it was emptied, whatever its time")
    func emptied() throws {
        try fixture.set("a", [7, 8, 9])
        try overwrite([], modified: timespec(tv_sec: 1_577_836_800, tv_nsec: 0))
        #expect(throws: StorageError.corrupt) { try fixture.get("a") }
    }

    @Test("is intact with any time if its bytes are those that were stored")
    func bytesAreTheSame() throws {
        try fixture.set("a", [7, 8, 9])
        try overwrite([7, 8, 9], modified: timespec(tv_sec: 1_577_836_800, tv_nsec: 0))
        #expect(try fixture.get("a") == [7, 8, 9])
        #expect(try fixture.store.verify(fixture.key("a")) == .intact)
    }
}
