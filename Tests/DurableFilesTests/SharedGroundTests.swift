import DurableFiles
import FoundationEssentials
import Glibc
import LocalDataAPI
import Synchronization
import TestSupport
import Testing

/// Attacks through folders that others may write to, and this user's files, which must not suffer from them.
@Suite("In folders that others may write to")
struct SharedGroundTests {
    private let folder: TemporaryFolder
    /// A folder of this user, which no other user may change through this user.
    private var own: String { folder.path + "/own" }
    /// A folder of a group.
    private var shared: String { folder.path + "/shared" }

    init() throws {
        folder = try TemporaryFolder()
        for name in ["own", "shared"] { try TemporaryFolder.makeFolder("\(folder.path)/\(name)") }
        try Data("precious".utf8).write(to: URL(filePath: own + "/keep"))
        try #require(chmod(shared, 0o2770) == 0)
    }

    @Test("advice to change a mode is only for what is the user's own, and not for a sticky folder, as /tmp is root's")
    func advice() throws {
        func isOwn(_ mode: mode_t, of user: uid_t) throws -> Bool {
            try #require(chmod(shared, mode) == 0)
            var status = stat()
            try #require(lstat(shared, &status) == 0)
            return Ownership.isOwn(status, of: user)
        }
        #expect(try isOwn(0o777, of: geteuid()) && isOwn(0o2770, of: geteuid()))
        #expect(try !isOwn(0o1777, of: geteuid()) && !isOwn(0o1770, of: geteuid()))
        #expect(try !isOwn(0o777, of: geteuid() + 1) && !isOwn(0o700, of: geteuid() + 1))
        var temporary = stat()
        try #require(lstat("/tmp", &temporary) == 0)
        #expect(!Ownership.isOwn(temporary, of: 0) && !Ownership.isOwn(temporary, of: geteuid()))
    }

    private func refused(_ link: String, _ body: () throws -> Void) {
        do {
            try body()
            Issue.record("the link was followed")
        } catch {
            #expect("\(error)".contains("'\(link)': it is a symbolic link"), "\(error)")
        }
    }

    @Test("no link is followed below a root, whatever is done there")
    func belowRoot() throws {
        let root = folder.path + "/root"
        try TemporaryFolder.makeFolder(root)
        #expect(symlink(own, root + "/in") == 0)
        let place = { try DurableDirectory(root: root, folders: ["in"]) }
        refused(root + "/in") { _ = try place().text("keep") }
        refused(root + "/in") { _ = try place().exists(RelativePath("keep")) }
        refused(root + "/in") { try place().replace("keep", "other") }
        refused(root + "/in") { _ = try place().remove(RelativePath("keep")) }
        refused(root + "/in") { try place().forEachEntry { _, _ in true } }
        #expect(folder.content("own/keep") == Array("precious".utf8))
        #expect(try folder.entries("own") == ["keep"])
    }

    @Test("no link is followed on the way to a value with a long name")
    func longName() throws {
        let path = RelativePath(pieces: ["aa~", "keep"].map { Array($0.utf8) })
        let place = try DurableDirectory(root: folder.path + "/root")
        try place.replace("other", "value")
        #expect(symlink(own, place.path + "/aa~") == 0)
        #expect(throws: StorageError.self) { _ = try place.text(path) }
        #expect(throws: (any Error).self) { try place.replace(path, "other") }
        #expect(throws: (any Error).self) { _ = try place.remove(path) }
        #expect(throws: (any Error).self) { try place.forEachEntry(in: RelativePath("aa~")) { _, _ in true } }
        #expect(folder.content("own/keep") == Array("precious".utf8))
    }

    @Test("a link on the way to a root is followed if this user has put it where only this user writes")
    func onTheWay() throws {
        #expect(symlink("own", folder.path + "/link") == 0)
        let place = try DurableDirectory(root: folder.path + "/link/deep/er")
        try place.replace("value", "1")
        #expect(folder.content("own/deep/er/value") == Array("1".utf8))
        #expect(try place.text("value") == "1")

        #expect(symlink(own, shared + "/documents") == 0)
        refused(shared + "/documents") { try DurableDirectory(root: shared + "/documents").replace("keep", "other") }
        refused(shared + "/documents") { try DurableDirectory(root: shared + "/documents/sub").replace("keep", "x") }
        #expect(symlink(shared + "/documents", folder.path + "/detour") == 0)
        refused(shared + "/documents") { _ = try DurableDirectory(root: folder.path + "/detour").text("keep") }
        #expect(try folder.entries("own") == ["deep", "keep"])
        #expect(folder.content("own/keep") == Array("precious".utf8))
    }

    @Test("a link of another user is never followed", .enabled(if: geteuid() == 0))
    func foreignLinkAsRoot() throws {
        #expect(symlink(own, folder.path + "/link") == 0)
        #expect(lchown(folder.path + "/link", 65534, 65534) == 0)
        refused(folder.path + "/link") { _ = try DurableDirectory(root: folder.path + "/link").text("keep") }
    }

    @Test("a folder that is constantly swapped for a link never leads out of the root")
    func swapped() throws {
        let path = shared
        let outside = own
        try TemporaryFolder.makeFolder(path + "/documents")
        try #require(chmod(path + "/documents", 0o2770) == 0)
        #expect(symlink(outside, path + "/link") == 0)
        let isDone = Atomic<Bool>(false)
        onThreads(2) { thread in
            if thread == 0 {
                for round in 0..<300 {
                    guard let place = try? DurableDirectory(root: path, folders: ["documents"]) else { continue }
                    try? place.replace("value", "\(round)")
                    _ = try? place.remove(RelativePath("keep"))
                }
                isDone.store(true, ordering: .releasing)
            } else {
                while !isDone.load(ordering: .acquiring) {
                    rename(path + "/documents", path + "/away")
                    rename(path + "/link", path + "/documents")
                    rename(path + "/documents", path + "/link")
                    rename(path + "/away", path + "/documents")
                }
            }
        }
        #expect(try folder.entries("own") == ["keep"])
    }

    @Test("temporary files are never put into a folder that others may write to, or that is a link")
    func temporaryFolder() throws {
        let root = folder.path + "/root"
        try TemporaryFolder.makeFolder(root + "/.tmp")
        try #require(chmod(root + "/.tmp", 0o777) == 0)
        let error = #expect(throws: StorageError.self) { try DurableDirectory(root: root).replace("a", "1") }
        #expect(error.map { "\($0)".contains("'\(root)/.tmp': other users may write to the folder") } == true)
        #expect(rmdir(root + "/.tmp") == 0)
        #expect(symlink(own, root + "/.tmp") == 0)
        #expect(throws: StorageError.self) { try DurableDirectory(root: root).replace("a", "1") }
        #expect(try folder.entries("own") == ["keep"])
    }

    @Test("temporary files are never put into a folder of another user", .enabled(if: geteuid() == 0))
    func temporaryFolderAsRoot() throws {
        let root = folder.path + "/root"
        try TemporaryFolder.makeFolder(root + "/.tmp")
        #expect(chown(root + "/.tmp", 65534, 65534) == 0)
        let error = #expect(throws: StorageError.self) { try DurableDirectory(root: root).replace("a", "1") }
        #expect(error.map { "\($0)".contains("belongs to user 65534") } == true)
    }

    @Test("a single file leaves nothing next to it, and removes what a killed process left")
    func besideFile() throws {
        let place = try DurableDirectory(root: own, staging: .besideFile)
        for name in [".report.0123456789abcdef", ".report.html", ".other.0123456789abcdef"] {
            try Data().write(to: URL(filePath: "\(own)/\(name)"))
        }
        try place.replace("report", "1")
        #expect(folder.content("own/report") == Array("1".utf8))
        #expect(try folder.entries("own") == [".other.0123456789abcdef", ".report.html", "keep", "report"])
    }

    @Test("a database's folder is held only where others could change its path")
    func held() throws {
        #expect(try HeldFolder(own) == nil)
        let held = try #require(try HeldFolder(shared))
        try Data("x".utf8).write(to: URL(filePath: shared + "/file"))
        #expect(held.problem(ofFile: "file") == nil)
        #expect(held.problem(ofFile: "missing") == nil)
        #expect(link(own + "/keep", shared + "/second") == 0)
        #expect(held.problem(ofFile: "second")?.contains("hard link") == true)
        #expect(symlink(own + "/keep", shared + "/link") == 0)
        #expect(held.problem(ofFile: "link") == "it is a symbolic link")
        #expect(held.isCurrent)
        #expect(rename(shared, folder.path + "/away") == 0)
        #expect(!held.isCurrent)
    }
}
