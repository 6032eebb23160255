@testable import FileStore
import Glibc
import LocalDataAPI
import Synchronization
import TestSupport
import Testing

/// A value as a conditional read passes it.
struct RevisionedBytes: Equatable {
    var revision: UInt64
    var attributes: ValueAttributes
    var bytes: [UInt8]

    var tag: String? { attributes.versionTag }
}

extension StoreFixture {
    /// Reads a value with its revision and attributes; `nil` if absent.
    func revisioned(_ key: FileKey) throws -> RevisionedBytes? {
        var found: RevisionedBytes?
        let isThere = try store.get(key) { revision, attributes, value in
            found = RevisionedBytes(
                revision: revision, attributes: attributes, bytes: value.withUnsafeBytes { Array($0) })
        }
        #expect(isThere == (found != nil))
        return found
    }

    /// Writes a value on a condition; the new revision, or `nil` if the condition does not hold.
    func set(_ key: FileKey, _ value: [UInt8], if condition: WriteCondition) throws -> UInt64? {
        try store.set(key, to: value.span.bytes, attributes: nil, if: condition)
    }
}

@Suite("A value read with its revision and attributes")
struct RevisionedReadTests {
    private let fixture: StoreFixture
    /// A store of the same root, as another process has it.
    private let other: FileStore
    private let key: FileKey
    private let otherKey: FileKey
    private var path: String { fixture.folder.path + "/fileSystem@documents/a" }

    init() throws {
        fixture = try StoreFixture()
        other = try StoreFixture.store(root: fixture.folder.path)
        key = try fixture.key("a")
        otherKey = try other.resolve(StorageAddress(fixture.place, name: "a"))
    }

    private func set(_ bytes: [UInt8], _ tag: String?, through store: FileStore, _ key: FileKey) throws {
        try store.set(key, to: bytes.span.bytes, attributes: tag.map { ValueAttributes(versionTag: $0, owner: "me") })
    }

    /// Reads the value three times; the last one finds what the one before has kept.
    private func expect(_ bytes: [UInt8], _ tag: String?, _ what: Comment? = nil) throws {
        for _ in 0..<3 {
            let found = try fixture.revisioned(key)
            #expect(found?.bytes == bytes && found?.tag == tag && found?.attributes.size == UInt64(bytes.count), what)
            #expect(try fixture.store.attributes(of: key) == found?.attributes, what)
        }
    }

    @Test(
        "has the same ones each time, however they are spelled",
        arguments: [
            ValueAttributes(), ValueAttributes(contentType: "text/plain", serializer: "text"),
            ValueAttributes(
                contentType: "a, b", serializer: "json", versionTag: "\u{e9}\u{1f600}", appVersion: "1.0", owner: "o/p"),
            ValueAttributes(contentType: #"x","owner":"not me"#, versionTag: #"\"2\""#, owner: "me"),
            ValueAttributes(versionTag: "", owner: "line\nbreak"),
            ValueAttributes(versionTag: "4", expires: 4_102_444_800_000_000_000),
        ])
    func sameEachTime(given: ValueAttributes) throws {
        try fixture.set("a", [1, 2, 3], attributes: given)
        try fixture.age()
        let first = try #require(try fixture.revisioned(key))
        #expect(first.attributes.kept == given && first.bytes == [1, 2, 3] && first.revision != 0)
        #expect(first.attributes.size == 3 && first.attributes.modified != nil)
        for _ in 0..<2 { #expect(try fixture.revisioned(key) == first) }
        // What another key of the same file reads, which knows nothing of it.
        #expect(try fixture.revisioned(fixture.key("a")) == first)
        #expect(try fixture.set(key, [4], if: .revision(first.revision)) != nil)
    }

    @Test("is the new one with the new tag after another store has replaced it, also by one of equal size")
    func replaced() throws {
        try set([1, 1], "1", through: fixture.store, key)
        try fixture.age()
        try expect([1, 1], "1")
        let first = try fixture.revisioned(key)?.revision
        for (bytes, tag) in [([2, 2], "2"), ([2, 2], "3"), ([3, 3, 3], "3"), ([3, 3, 3], nil)] as [([UInt8], String?)] {
            try set(bytes, tag, through: other, otherKey)
            try expect(bytes, tag, "at once")
            try fixture.age()
            try expect(bytes, tag, "later")
        }
        #expect(try fixture.revisioned(key)?.revision != first)
        #expect(try other.remove(otherKey))
        #expect(try fixture.revisioned(key) == nil)
    }

    @Test("is never an earlier one, however fast another store replaces it", arguments: [false, true])
    func replacedAtOnce(readsBetween: Bool) throws {
        var revisions: Set<UInt64> = []
        for number in 0..<200 {
            // Equal bytes with another tag, and equal sizes: nothing but the attributes tells them apart.
            let bytes = [UInt8(number / 2)]
            try set(bytes, "\(number)", through: other, otherKey)
            if !readsBetween { try set(bytes, "\(number), again", through: other, otherKey) }
            let found = try #require(try fixture.revisioned(key))
            #expect(found.bytes == bytes && found.tag == (readsBetween ? "\(number)" : "\(number), again"))
            revisions.insert(found.revision)
        }
        #expect(revisions.count == 200)
    }

    @Test("has bytes and attributes of one write while others replace it")
    func whileReplaced() throws {
        let fixture = try StoreFixture(inMemory: true)
        let key = try fixture.key("a")
        try fixture.set("a", [0, 0], attributes: ValueAttributes(versionTag: "0"))
        let writers = 2
        let left = Atomic(writers)
        let mixed = Mutex<[RevisionedBytes]>([])
        onThreads(writers + 2) { thread in
            do {
                if thread < writers {
                    defer { left.subtract(1, ordering: .releasing) }
                    let store = try StoreFixture.store(root: fixture.folder.path)
                    let key = try store.resolve(StorageAddress(fixture.place, name: "a"))
                    for number in 0..<500 {
                        let byte = UInt8(truncatingIfNeeded: number * writers + thread)
                        try store.set(
                            key, to: [byte, byte].span.bytes, attributes: ValueAttributes(versionTag: "\(byte)"))
                    }
                } else {
                    while left.load(ordering: .acquiring) > 0 {
                        guard let found = try fixture.revisioned(key) else { continue }
                        if found.tag != "\(found.bytes[0])" { mixed.withLock { $0.append(found) } }
                    }
                }
            } catch { Issue.record(error) }
        }
        #expect(mixed.withLock(\.self) == [])
    }

    @Test("keeps its tag and has another revision when it is edited in place")
    func edited() throws {
        try set([1, 2], "1", through: fixture.store, key)
        try fixture.age()
        try expect([1, 2], "1")
        let before = try fixture.revisioned(key)
        let file = open(path, O_WRONLY | O_CLOEXEC)
        try #require(write(file, [3, 4] as [UInt8], 2) == 2)
        close(file)
        try expect([3, 4], "1")
        #expect(try fixture.revisioned(key)?.revision != before?.revision)
    }

    @Test("has no tag, and still a revision, if its file has no attributes")
    func withoutAttributes() throws {
        let tooLarge = ValueAttributes(versionTag: "1", owner: String(repeating: "x", count: 100_000))
        try fixture.set("a", [1], attributes: tooLarge)
        try expect([1], nil)
        let first = try fixture.revisioned(key)
        // One that has them, and again one that has none.
        try set([1], "2", through: other, otherKey)
        try fixture.age()
        try expect([1], "2")
        try other.set(otherKey, to: ([1] as [UInt8]).span.bytes, attributes: tooLarge)
        try expect([1], nil)
        try fixture.age()
        try expect([1], nil)
        let revisions = try [first?.revision, fixture.revisioned(key)?.revision]
        #expect(revisions[0] != revisions[1] && !revisions.contains(0) && !revisions.contains(nil))
        // A file of another program.
        #expect(unlink(path) == 0)
        try fixture.folder.write([7], to: "fileSystem@documents/a")
        try expect([7], nil)
    }
}
