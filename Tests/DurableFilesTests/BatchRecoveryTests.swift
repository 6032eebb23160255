import DurableFiles
import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@Suite("An interrupted batch")
struct BatchRecoveryTests {
    private let fixture: BatchFixture
    private var obstacle: String { fixture.inside.path + "/second" }
    private var journal: String { fixture.root.path + "/.batch/journal" }

    init() throws { fixture = try BatchFixture() }

    @Test("reports that it is committed, and is completed when the store is opened")
    func recovered() throws {
        let error = try #require(try fixture.interrupt())
        #expect(error.message.contains("is committed, but not completely in place yet: cannot rename"))
        #expect(error.message.contains("/.tmp/"))
        #expect("\(error)".contains("'\(journal)' is committed, but not completely in place"))
        #expect(try fixture.inside.text("first") == "new")
        #expect(rmdir(obstacle) == 0)
        try BatchFixture(fixture.folder).batches.recover()
        #expect(try fixture.inside.text("second") == "new")
        #expect(try fixture.debris(beside: ["root/in/first", "root/in/second"]) == [])
    }

    @Test("is completed before the next change, which it does not overtake")
    func order() throws {
        _ = try #require(try fixture.interrupt())
        #expect(rmdir(obstacle) == 0)
        try fixture.batches.around { try fixture.inside.replace("second", "newer") }
        #expect(try fixture.inside.text("second") == "newer")
        try fixture.batches.recover()
        #expect(try fixture.inside.text("second") == "newer")
        #expect(try fixture.inside.text("first") == "new")
    }

    @Test("is completed before the next batch")
    func nextBatch() throws {
        _ = try #require(try fixture.interrupt(second: "first batch"))
        #expect(rmdir(obstacle) == 0)
        try fixture.batches.apply([fixture.change("third", "new"), fixture.change("first", "newer")])
        #expect(try fixture.inside.text("first") == "newer")
        #expect(try fixture.inside.text("second") == "first batch")
        #expect(try fixture.inside.text("third") == "new")
    }

    @Test("that cannot be completed blocks changes and reports the reason")
    func blocked() throws {
        _ = try #require(try fixture.interrupt())
        for attempt in [
            { try fixture.batches.around { try fixture.inside.replace("third", "new") } },
            { try fixture.batches.apply([fixture.change("third", "new"), fixture.change("fourth", "new")]) },
            { try fixture.batches.recover() },
        ] as [() throws -> Void] {
            let error = #expect(throws: StorageError.self) { try attempt() }
            #expect(error?.message.contains("was interrupted and cannot be completed") == true)
            #expect(error?.message.contains("to '\(obstacle)'") == true)
        }
        #expect(try fixture.inside.text("third") == nil)
        #expect(rmdir(obstacle) == 0)
        try fixture.batches.recover()
        #expect(try fixture.inside.text("second") == "new")
    }

    @Test("skips a missing location, and follows a root that was moved")
    func moved() throws {
        #expect(try fixture.interrupt() != nil)
        #expect(rmdir(obstacle) == 0)
        let other = fixture.folder.path + "/moved"
        #expect(rename(fixture.root.path, other) == 0)
        let moved = try DurableDirectory(root: other)
        try BatchFolder(root: moved).recover()
        #expect(try DurableDirectory(root: other, folders: ["in"]).text("second") == "new")

        #expect(try fixture.interrupt() != nil)
        try FileManager.default.removeItem(atPath: fixture.inside.path)
        try fixture.batches.recover()
        #expect(!fixture.folder.exists("root/in"))
        #expect(!fixture.folder.exists("root/.batch/journal"))
    }

    @Test("whose journal is damaged is reported, and nothing of it is dropped", arguments: [0, 1, 8, 40, -1, -9])
    func damaged(length: Int) throws {
        _ = try #require(try fixture.interrupt())
        #expect(rmdir(obstacle) == 0)
        var bytes = try #require(fixture.folder.content("root/.batch/journal"))
        if length < 0 { bytes[bytes.count + length] ^= 1 } else { bytes = Array(bytes.prefix(length)) }
        try Data(bytes).write(to: URL(filePath: journal))
        let error = #expect(throws: StorageError.self) {
            try fixture.batches.around { try fixture.inside.replace("third", "new") }
        }
        #expect(error?.systemError == EBADMSG)
        #expect(error?.leavesReading == true)
        #expect(try fixture.inside.text("first") == "new")
        #expect(fixture.folder.content("root/.batch/journal") == bytes)
        let debris = try fixture.debris(beside: ["root/in/first", "root/.batch/journal"])
        #expect(debris.count == 1, "what is staged stays: \(debris)")

        let kept = try #require(try fixture.batches.setAside())
        #expect(fixture.folder.content("root/.batch/\(kept.split(separator: "/").last ?? "")") == bytes)
        try fixture.batches.around { try fixture.inside.replace("third", "new") }
        #expect(try fixture.batches.setAside() == nil)
        _ = try DurableDirectory(root: fixture.root.path, folders: ["in"], batches: fixture.batches).text("first")
        #expect(try folder("root/in/.tmp").isEmpty, "what was staged goes with the journal")
    }

    private func folder(_ name: String) throws -> [String] { try fixture.folder.entries(name) }

    @Test("of a later version is left alone")
    func later() throws {
        _ = try #require(try fixture.interrupt())
        #expect(rmdir(obstacle) == 0)
        var bytes = try #require(fixture.folder.content("root/.batch/journal"))
        bytes[7] += 1
        try Data(bytes).write(to: URL(filePath: journal))
        let error = #expect(throws: StorageError.self) { try fixture.batches.recover() }
        #expect(error?.systemError == ENOTSUP)
        #expect(fixture.folder.content("root/.batch/journal") == bytes)
    }

    @Test("of another user is completed below the root only", .enabled(if: geteuid() == 0))
    func otherUserAsRoot() throws {
        _ = try #require(try fixture.interrupt())
        #expect(rmdir(obstacle) == 0)
        #expect(chown(journal, 65534, 65534) == 0)
        try fixture.batches.recover()
        #expect(try fixture.inside.text("second") == "new")

        try fixture.elsewhere.replace("a", "old")
        #expect(throws: StorageError.self) {
            try fixture.batches.apply([
                fixture.change("a", nil, in: fixture.elsewhere),
                fixture.change("third", "new") { try TemporaryFolder.makeFolder(fixture.inside.path + "/third") },
            ])
        }
        #expect(try fixture.elsewhere.text("a") == nil)
        try fixture.elsewhere.replace("a", "newer")
        #expect(rmdir(fixture.inside.path + "/third") == 0)
        #expect(chown(journal, 65534, 65534) == 0)
        let error = #expect(throws: StorageError.self) { try fixture.batches.recover() }
        #expect(error?.systemError == EPERM)
        #expect(try fixture.elsewhere.text("a") == "newer")
    }

    @Test("that was not committed is removed once its owner is dead")
    func abandoned() throws {
        // The files that exist while a batch is being staged are those that a crash would leave.
        let copy = try TemporaryFolder()
        try fixture.inside.replace("first", "old")
        try fixture.batches.apply([
            fixture.change("first", "new"),
            fixture.change("second", "new") {
                try FileManager.default.copyItem(atPath: fixture.root.path, toPath: copy.path + "/root")
                // Its owner lives, so recovery must not touch it.
                try BatchFixture(fixture.folder).batches.recover()
            },
        ])
        #expect(try fixture.inside.text("second") == "new")
        let dead = try BatchFixture(copy)
        let debris = try dead.debris(beside: ["root/in/first"])
        #expect(debris.count == 3, "the file that says what is staged, and two staged contents: \(debris)")
        try dead.batches.recover()
        #expect(try dead.debris(beside: ["root/in/first"]) == [])
        #expect(try dead.inside.text("first") == "old")
    }

    @Test("whose staged contents survived a power loss is removed, and no other batch is touched")
    func leftovers() throws {
        var staged: [String] = []
        try fixture.batches.apply([
            fixture.change("first", "1"),
            fixture.change("second", "1") { staged = try fixture.folder.entries("root/in/.tmp") },
        ])
        let dead = try #require(staged.first, "the first content is staged when the second is asked for")
        let foreign = ".0123456789abcdef-0"
        for name in [dead, foreign] {
            try Data("x".utf8).write(to: URL(filePath: "\(fixture.inside.path)/.tmp/\(name)"))
        }
        let cleaned = { try DurableDirectory(root: fixture.root.path, folders: ["in"], batches: fixture.batches) }
        try fixture.batches.apply([
            fixture.change("first", "2"),
            fixture.change("second", "2") {
                _ = try cleaned().text("first")
                staged = try fixture.folder.entries("root/in/.tmp")
            },
        ])
        #expect(staged.count == 3 && staged.contains(foreign) && !staged.contains(dead), "\(staged)")
        #expect(try fixture.inside.text("first") == "2")
        #expect(try fixture.inside.text("second") == "2")
    }

    @Test("is not touched by the cleaner of temporary files")
    func cleaner() throws {
        _ = try #require(try fixture.interrupt())
        _ = try DurableDirectory(root: fixture.inside.path).text("first")
        #expect(rmdir(obstacle) == 0)
        try fixture.batches.recover()
        #expect(try fixture.inside.text("second") == "new")
    }
}
