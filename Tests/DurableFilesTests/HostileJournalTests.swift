import DurableFiles
import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@Suite("A journal that others may have written")
struct HostileJournalTests {
    private let fixture: BatchFixture
    private var journal: String { fixture.root.path + "/.batch/journal" }

    init() throws { fixture = try BatchFixture() }

    /// Interrupts a batch that removes a file outside the root, and restores the file.
    private func interruptElsewhere() throws {
        try fixture.elsewhere.replace("a", "old")
        let obstacle = fixture.inside.path + "/second"
        #expect(throws: StorageError.self) {
            try fixture.batches.apply([
                fixture.change("a", nil, in: fixture.elsewhere),
                fixture.change("second", "new") { try TemporaryFolder.makeFolder(obstacle) },
            ])
        }
        #expect(rmdir(obstacle) == 0)
        try fixture.elsewhere.replace("a", "newer")
    }

    private func isRefused(_ text: String, location: SourceLocation = #_sourceLocation) throws {
        for attempt in [
            { try fixture.batches.recover() },
            { try fixture.batches.around { try fixture.inside.replace("third", "new") } },
        ] as [() throws -> Void] {
            let error = #expect(throws: StorageError.self, sourceLocation: location) { try attempt() }
            #expect(error?.leavesReading == true, sourceLocation: location)
            #expect(error.map { "\($0)".contains(text) } == true, "\(error as Any)", sourceLocation: location)
        }
        #expect(fixture.folder.exists("root/.batch/journal"), "nothing is dropped", sourceLocation: location)
        #expect(try fixture.elsewhere.text("a") ?? "newer" == "newer", sourceLocation: location)
    }

    @Test("changes nothing outside the root, whichever user owns the file", arguments: ["journal", ".batch", "root"])
    func outside(writable: String) throws {
        try interruptElsewhere()
        let paths = ["journal": journal, ".batch": fixture.root.path + "/.batch", "root": fixture.root.path]
        let path = try #require(paths[writable])
        var status = stat()
        try #require(stat(path, &status) == 0)
        #expect(chmod(path, status.st_mode & 0o7777 | 0o020) == 0)
        try isRefused("'\(fixture.elsewhere.path)', which is outside of the root")
        #expect(try fixture.elsewhere.text("a") == "newer")
        #expect(chmod(path, status.st_mode & 0o7777) == 0)
        try fixture.batches.recover()
        #expect(try fixture.elsewhere.text("a") == nil)
    }

    @Test("changes only folders that the group shares, in a root that it shares")
    func sharedRoot() throws {
        _ = try #require(try fixture.interrupt())
        #expect(rmdir(fixture.inside.path + "/second") == 0)
        #expect(chmod(fixture.root.path + "/.batch", 0o2770) == 0)
        try isRefused("'\(fixture.inside.path)', which its group does not share")
        for path in [fixture.inside.path, fixture.inside.path + "/.tmp"] { #expect(chmod(path, 0o2770) == 0) }
        try fixture.batches.recover()
        #expect(try fixture.inside.text("second") == "new")
    }

    @Test("is not written where nobody could complete it")
    func refusedBefore() throws {
        try TemporaryFolder.makeFolder(fixture.root.path)
        #expect(chmod(fixture.root.path, 0o2770) == 0)
        let error = #expect(throws: StorageError.self) {
            try fixture.batches.apply([fixture.change("a", "1"), fixture.change("b", "1", in: fixture.elsewhere)])
        }
        #expect(error?.message.hasPrefix("cannot apply a batch, nothing has changed") == true)
        #expect(try fixture.inside.text("a") == nil)
        try fixture.batches.apply([fixture.change("a", "1"), fixture.change("b", "1")])
        #expect(try fixture.inside.text("b") == "1")
    }

    @Test("that leads through a link is refused")
    func link() throws {
        _ = try #require(try fixture.interrupt())
        #expect(rmdir(fixture.inside.path + "/second") == 0)
        #expect(rename(fixture.inside.path, fixture.folder.path + "/moved") == 0)
        #expect(symlink(fixture.folder.path + "/moved", fixture.inside.path) == 0)
        let error = #expect(throws: StorageError.self) { try fixture.batches.recover() }
        #expect(error?.systemError == ELOOP)
        #expect(!fixture.folder.exists("moved/second"))
    }

    @Test("that is a pipe, a folder or a link is reported", arguments: ["pipe", "folder", "link"])
    func kind(of kind: String) throws {
        try TemporaryFolder.makeFolder(fixture.root.path + "/.batch")
        switch kind {
        case "pipe": #expect(mkfifo(journal, 0o600) == 0)
        case "folder": #expect(mkdir(journal, 0o700) == 0)
        default: #expect(symlink("/dev/null", journal) == 0)
        }
        let error = #expect(throws: StorageError.self) { try fixture.batches.recover() }
        #expect(error?.leavesReading == true)
        #expect(error?.message.contains("cannot read '\(journal)'") == true)
        #expect(error?.code == .corrupt)
    }

    @Test("makes others wait only for a limited time, and the error names the holder of the lock")
    func lockHeld() throws {
        _ = try #require(try fixture.interrupt())
        let lock = open(fixture.root.path + "/.batch/lock", O_RDWR | O_CLOEXEC)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        let batches = try BatchFolder(root: fixture.root, patience: .milliseconds(30))
        for attempt in [
            { try batches.recover() },
            { try batches.around { try fixture.inside.replace("third", "new") } },
            { try batches.apply([fixture.change("third", "new"), fixture.change("fourth", "new")]) },
        ] as [() throws -> Void] {
            let error = #expect(throws: StorageError.self) { try attempt() }
            #expect(error?.systemError == ETIMEDOUT)
            #expect(error.map { "\($0)".contains("process \(getpid()) (") } == true, "\(error as Any)")
        }
    }
}
