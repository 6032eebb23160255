import DurableFiles
import FoundationEssentials
import Glibc
import LocalDataAPI
import Synchronization
import TestSupport
import Testing

@Suite("Applying a batch")
struct BatchTests {
    private struct GivenUp: Error, Equatable {}

    private let fixture: BatchFixture

    init() throws { fixture = try BatchFixture() }

    /// A few files are synchronized one by one, many with their file system.
    @Test("sets and removes files in all locations, and leaves nothing else", arguments: [3, 100])
    func applies(count: Int) throws {
        try fixture.inside.replace("replaced", "old")
        try fixture.inside.replace("removed", "old")
        try fixture.elsewhere.replace(BatchFixture.long, "old")
        var changes = (0..<count).map { fixture.change("file \($0)", "\($0)") }
        changes += [
            fixture.change("replaced", "new"), fixture.change("removed", nil), fixture.change("never", nil),
            fixture.change(BatchFixture.long, nil, in: fixture.elsewhere),
            fixture.change("other", "other", in: fixture.elsewhere), fixture.change(BatchFixture.long, "long"),
        ]
        try fixture.batches.apply(changes)
        for index in 0..<count { #expect(try fixture.inside.text("file \(index)") == "\(index)") }
        #expect(try fixture.inside.text("replaced") == "new")
        #expect(try fixture.inside.text("removed") == nil)
        #expect(try fixture.inside.text(BatchFixture.long) == "long")
        #expect(try fixture.elsewhere.text("other") == "other")
        #expect(try fixture.elsewhere.text(BatchFixture.long) == nil)
        #expect(try fixture.folder.entries("elsewhere") == [".tmp", "other"], "emptied folders stay")
        let files = (0..<count).map { "root/in/file \($0)" }
        #expect(
            try fixture.debris(beside: files + ["root/in/replaced", "root/in/aa~/bb~/long", "elsewhere/other"]) == [])
        #expect(try mode("root/in/replaced") == 0o600)
        #expect(try mode("root/.batch/lock") == 0o600)
    }

    @Test("lets the last change of a file win, also if its folder has two names")
    func order() throws {
        try fixture.inside.make()
        let link = fixture.folder.path + "/link"
        #expect(symlink(fixture.inside.path, link) == 0)
        let linked = try DurableDirectory(root: link)
        try fixture.batches.apply([
            fixture.change("a", "1"), fixture.change("a", nil), fixture.change("a", "3"),
            fixture.change("b", "1"), fixture.change("b", nil),
            fixture.change("c", nil), fixture.change("c", "2", in: linked),
            fixture.change("d", "1", in: linked), fixture.change("d", nil),
        ])
        #expect(try fixture.inside.text("a") == "3")
        #expect(try fixture.inside.text("b") == nil)
        #expect(try fixture.inside.text("c") == "2")
        #expect(try fixture.inside.text("d") == nil)
    }

    @Test("of one change or none needs no journal")
    func single() throws {
        try fixture.batches.apply([])
        #expect(!fixture.folder.exists("root"))
        try fixture.batches.apply([fixture.change("a", "1"), fixture.change("b", nil, in: fixture.elsewhere)])
        #expect(try fixture.inside.text("a") == "1")
        #expect(!fixture.folder.exists("root/.batch"))
        #expect(!fixture.folder.exists("elsewhere"), "a removal has made a folder")
    }

    @Test("changes nothing if the source of a content fails")
    func givenUp() throws {
        try fixture.inside.replace("a", "old")
        #expect(throws: GivenUp()) {
            try fixture.batches.apply([
                fixture.change("a", "new"), fixture.change("b", "new"),
                fixture.change("c", "new") { throw GivenUp() },
            ])
        }
        #expect(try fixture.inside.text("a") == "old")
        #expect(try fixture.debris(beside: ["root/in/a"]) == [])
    }

    @Test("changes nothing if a name belongs to something other than a file", arguments: ["set", nil])
    func wrongKind(text: String?) throws {
        try TemporaryFolder.makeFolder(fixture.inside.path + "/folder")
        let error = #expect(throws: StorageError.self) {
            try fixture.batches.apply([fixture.change("a", "new"), fixture.change("folder", text)])
        }
        #expect(error?.cause == .irregularFile(kind: "a folder"))
        #expect(error?.message.contains("'\(fixture.inside.path)/folder'") == true)
        #expect(try fixture.debris(beside: []) == [])
    }

    @Test("changes nothing if there is no room for the staged files, and says so")
    func noRoom() throws {
        try fixture.inside.make()
        #expect(mkfifo(fixture.inside.path + "/.tmp", 0o600) == 0)
        let error = #expect(throws: StorageError.self) {
            try fixture.batches.apply([fixture.change("a", "new"), fixture.change("b", "new")])
        }
        #expect(error?.systemError == ENOTDIR)
        #expect("\(error as Any)".contains("nothing has changed"))
        #expect(unlink(fixture.inside.path + "/.tmp") == 0)
        #expect(try fixture.debris(beside: []) == [])
    }

    @Test("makes files in a group's folders for the group")
    func shared() throws {
        try fixture.inside.make()
        #expect(chmod(fixture.root.path, 0o2770) == 0)
        #expect(chmod(fixture.inside.path, 0o2770) == 0)
        try fixture.batches.apply([fixture.change("a", "new"), fixture.change("b", "new")])
        #expect(try mode("root/in/a") == 0o660)
        #expect(try mode("root/.batch/lock") == 0o660)
        #expect(try mode("root/.batch") == 0o2770)
    }

    @Test("can run many times at once, each time as a whole")
    func threads() throws {
        let fixture = fixture
        let failures = Mutex<[String]>([])
        onThreads(4) { thread in
            do {
                let own = try BatchFixture(fixture.folder)
                for round in 0..<15 {
                    let text = "\(thread) \(round)"
                    try own.batches.apply((0..<5).map { own.change("file \($0)", text) })
                    try own.batches.around { try own.inside.replace("alone \(thread)", text) }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        let texts = try (0..<5).map { try fixture.inside.text("file \($0)") }
        #expect(Set(texts).count == 1, "\(texts)")
        for thread in 0..<4 { #expect(try fixture.inside.text("alone \(thread)") == "\(thread) 14") }
        let files = (0..<5).map { "root/in/file \($0)" } + (0..<4).map { "root/in/alone \($0)" }
        #expect(try fixture.debris(beside: files) == [])
    }

    private func mode(_ path: String) throws -> UInt32 {
        var status = stat()
        try #require(stat("\(fixture.folder.path)/\(path)", &status) == 0)
        return status.st_mode & 0o7777
    }
}
