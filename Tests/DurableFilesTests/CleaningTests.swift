import DurableFiles
import FoundationEssentials
import Glibc
import Synchronization
import Testing

@Suite("Cleaning up temporary files")
struct CleaningTests {
    private let folder: TemporaryFolder
    private var temporary: String { folder.path + "/.tmp" }

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path + "/.tmp", withIntermediateDirectories: false)
    }

    @Test("removes what a dead process left, at the first read")
    func deadOwner() throws {
        for name in ["dead", "deader"] { try Data("x".utf8).write(to: URL(filePath: "\(temporary)/\(name)")) }
        let directory = try DurableDirectory(root: folder.path)
        #expect(try directory.text("a") == nil)
        #expect(try folder.entries(".tmp").isEmpty)
    }

    @Test("leaves what a living owner holds")
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
