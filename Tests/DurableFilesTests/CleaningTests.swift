import DurableFiles
import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("Cleaning up temporary files")
struct CleaningTests {
    private let folder: TemporaryFolder
    private var temporary: String { folder.path + "/.tmp" }

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path + "/.tmp", withIntermediateDirectories: false)
    }

    @Test("removes a dead process's files at the first read")
    func deadOwner() throws {
        for name in ["dead", "deader"] { try Data("x".utf8).write(to: URL(filePath: "\(temporary)/\(name)")) }
        let directory = try DurableDirectory(root: folder.path)
        #expect(try directory.text("a") == nil)
        #expect(try folder.entries(".tmp").isEmpty)
    }

    @Test("leaves files that a living owner holds")
    func livingOwner() throws {
        let owner = open(temporary + "/alive", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        defer { close(owner) }
        #expect(flock(owner, LOCK_EX | LOCK_NB) == 0)
        try DurableDirectory(root: folder.path).replace("a", "one")
        #expect(try folder.entries(".tmp") == ["alive"])
        #expect(flock(owner, LOCK_UN) == 0)
        #expect(try DurableDirectory(root: folder.path).text("a") == "one")
        #expect(try folder.entries(".tmp").isEmpty)
    }

    @Test("follows no link and touches nothing but files")
    func links() throws {
        try FileManager.default.removeItem(atPath: temporary)
        try FileManager.default.createDirectory(atPath: folder.path + "/other", withIntermediateDirectories: false)
        try Data("x".utf8).write(to: URL(filePath: folder.path + "/other/file"))
        #expect(symlink("other", temporary) == 0)
        #expect(try DurableDirectory(root: folder.path).text("a") == nil)
        #expect(try folder.entries("other") == ["file"])
        #expect(unlink(temporary) == 0)
        #expect(mkdir(temporary, 0o700) == 0)
        #expect(symlink("../other/file", temporary + "/link") == 0)
        #expect(mkfifo(temporary + "/pipe", 0o600) == 0)
        #expect(try DurableDirectory(root: folder.path).text("a") == nil)
        #expect(try folder.entries(".tmp") == ["link", "pipe"])
        #expect(try folder.entries("other") == ["file"])
    }

    @Test("a large batch leaves no large folder behind, and a writer that has it open continues")
    func largeBatch() throws {
        let fixture = try BatchFixture(folder)
        let other = try DurableDirectory(root: fixture.inside.path)
        try fixture.inside.replace("first", "one")
        try other.replace("second", "one")
        try fixture.batches.apply((0..<1500).map { fixture.change("n\($0)", "value") })
        // The folder does not exist until it is needed.
        #expect(!FileManager.default.fileExists(atPath: "\(fixture.inside.path)/.tmp"))
        try other.replace("second", "two")
        try fixture.inside.replace("first", "two")
        try fixture.batches.apply([fixture.change("first", "three"), fixture.change("n0", nil)])
        #expect(try other.text("first") == "three" && other.text("n0") == nil && other.text("second") == "two")
        #expect(try fixture.inside.text("n1499") == "value")
    }

    @Test("the first read of a process removes a large empty folder, but not one in use")
    func largeFolder() throws {
        let names = (0..<1500).map { temporary + "/\($0)" + String(repeating: "x", count: 200) }
        func fill() throws {
            for name in names { try Data().write(to: URL(filePath: name)) }
            for name in names { #expect(unlink(name) == 0) }
        }
        try fill()
        let owner = open(temporary + "/alive", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        defer { close(owner) }
        #expect(flock(owner, LOCK_EX | LOCK_NB) == 0)
        #expect(try DurableDirectory(root: folder.path).text("a") == nil)
        #expect(try folder.entries(".tmp") == ["alive"])
        #expect(flock(owner, LOCK_UN) == 0)
        #expect(try DurableDirectory(root: folder.path).text("a") == nil)
        var status = stat()
        // Some file systems shrink a folder by themselves.
        #expect(stat(temporary, &status) != 0 || status.st_size <= 64 << 10)
    }

    @Test("never takes a file from a writer that lives")
    func cleanersAndWriters() throws {
        let path = folder.path
        let failures = Mutex<[String]>([])
        let isDone = Atomic<Int>(0)
        onThreads(8) { thread in
            do {
                if thread < 4 {
                    let directory = try DurableDirectory(root: path)
                    for round in 0..<60 { try directory.replace("f\(thread)", "\(round)") }
                    isDone.add(1, ordering: .relaxed)
                } else {
                    while isDone.load(ordering: .relaxed) < 4 {
                        _ = try DurableDirectory(root: path).exists(RelativePath("f0"))
                    }
                }
            } catch {
                isDone.add(4, ordering: .relaxed)
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        for thread in 0..<4 { #expect(folder.content("f\(thread)") == Array("59".utf8)) }
        #expect(try folder.entries(".tmp").isEmpty)
    }
}
