import CLinux
@testable import FileStore
import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@Suite("Attributes and streaming")
struct AttributesTests {
    private struct GivenUp: Error, Equatable {}

    private let fixture: StoreFixture
    private var path: String { fixture.folder.path + "/fileSystem@documents/a" }

    init() throws { fixture = try StoreFixture() }

    @Test(
        "are kept as they were given",
        arguments: [
            ValueAttributes(), ValueAttributes(owner: "me"), ValueAttributes(contentType: "", serializer: "json"),
            ValueAttributes(
                contentType: "application/json", serializer: "json", versionTag: "2", appVersion: "1.0 \"\u{e9}\"",
                owner: "org.example/x"),
        ])
    func roundTrip(given: ValueAttributes) throws {
        let before = Int64(time(nil)) - 1
        try fixture.set("a", [1, 2, 3], attributes: given)
        var found = try #require(try fixture.store.attributes(of: fixture.key("a")))
        #expect(found.size == 3)
        #expect(try #require(found.modified) / 1_000_000_000 >= before)
        #expect(try #require(found.modified) / 1_000_000_000 <= Int64(time(nil)))
        found.size = nil
        found.modified = nil
        #expect(found == given)
    }

    @Test("are replaced with the value, even by none")
    func replaced() throws {
        try fixture.set("a", [1], attributes: ValueAttributes(owner: "first", size: 99, modified: 1))
        try fixture.set("a", [1, 2], attributes: ValueAttributes(versionTag: "2"))
        let second = try fixture.store.attributes(of: fixture.key("a"))
        #expect(second?.owner == nil)
        #expect(second?.versionTag == "2")
        #expect(second?.size == 2)
        try fixture.set("a", [1])
        #expect(try fixture.store.attributes(of: fixture.key("a"))?.versionTag == nil)
        #expect(try fixture.store.remove(fixture.key("a")))
        #expect(try fixture.store.attributes(of: fixture.key("a")) == nil)
    }

    @Test("that cannot be decoded, or are not there, are unknown", arguments: ["", "{", "[]", "{\"owner\":5}"])
    func undecodable(json: String) throws {
        try fixture.set("a", [1], attributes: ValueAttributes(owner: "me"))
        let file = open(path, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        #expect(ld_linux_set_attribute(file, "user.localdata", json, json.utf8.count) == 0)
        let found = try #require(try fixture.store.attributes(of: fixture.key("a")))
        #expect(found.owner == nil)
        #expect(found.size == 1)
    }

    @Test("have no time of change if it is outside of 64 bits")
    func farFuture() throws {
        try fixture.set("a", [1])
        var times = [timespec(tv_sec: 14_000_000_000, tv_nsec: 0), timespec(tv_sec: 14_000_000_000, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
        let found = try #require(try fixture.store.attributes(of: fixture.key("a")))
        #expect(found.size == 1)
        #expect(found.modified == nil)
    }

    @Test("that are too large for the file system do not stop the value")
    func tooLarge() throws {
        try fixture.set("a", [1], attributes: ValueAttributes(owner: String(repeating: "x", count: 100_000)))
        #expect(try fixture.get("a") == [1])
        #expect(try fixture.store.attributes(of: fixture.key("a"))?.size == 1)
    }

    @Test("come with a value that is written in pieces")
    func streaming() throws {
        let key = try fixture.key("a")
        try fixture.store.write(key, attributes: ValueAttributes(owner: "me")) { take in
            for piece in 0..<10 { try take([UInt8](repeating: UInt8(piece), count: 100_000).span.bytes) }
        }
        #expect(try fixture.store.attributes(of: key)?.owner == "me")
        var count = 0
        var isInOrder = true
        #expect(
            try fixture.store.read(key) { span in
                span.withUnsafeBytes { bytes in
                    for byte in bytes {
                        if byte != UInt8(count / 100_000) { isInOrder = false }
                        count += 1
                    }
                }
                return true
            })
        #expect(count == 1_000_000)
        #expect(isInOrder)
        var pieces = 0
        #expect(
            try fixture.store.read(key) { _ in
                pieces += 1
                return false
            })
        #expect(pieces == 1)
        #expect(try fixture.store.read(fixture.key("none")) { _ in true } == false)
    }

    @Test("stay with the old value when the source of a new one fails")
    func givenUp() throws {
        try fixture.set("a", [1], attributes: ValueAttributes(owner: "me"))
        #expect(throws: GivenUp()) {
            try fixture.store.write(fixture.key("a"), attributes: ValueAttributes(owner: "you")) { take in
                try take(([2] as [UInt8]).span.bytes)
                throw GivenUp()
            }
        }
        #expect(try fixture.get("a") == [1])
        #expect(try fixture.store.attributes(of: fixture.key("a"))?.owner == "me")
        #expect(try fixture.folder.entries("fileSystem@documents/.tmp").isEmpty)
    }
}
