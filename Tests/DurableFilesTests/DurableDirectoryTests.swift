import DurableFiles
import FoundationEssentials
import Glibc
import LocalDataAPI
import Synchronization
import TestSupport
import Testing

@Suite("DurableDirectory")
struct DurableDirectoryTests {
    private let folder: TemporaryFolder
    private let directory: DurableDirectory

    init() throws {
        folder = try TemporaryFolder()
        directory = try DurableDirectory(root: folder.path + "/top", folders: ["place"])
    }

    @Test("returns the written content, and leaves no temporary file")
    func roundTrip() throws {
        #expect(try directory.text("a") == nil)
        try directory.replace("a", "one")
        #expect(try directory.text("a") == "one")
        try directory.replace("a", "")
        #expect(try directory.text("a")?.isEmpty == true)
        #expect(try directory.exists(RelativePath("a")))
        #expect(try folder.entries("top/place") == [".tmp", "a"])
        #expect(try folder.entries("top/place/.tmp").isEmpty)
    }

    @Test("creates nothing for reading, removing and listing")
    func readingMakesNothing() throws {
        #expect(try directory.text("a") == nil)
        #expect(try directory.exists(RelativePath("a")) == false)
        #expect(try directory.remove(RelativePath("a")) == false)
        try directory.forEachEntry { _, _ in
            Issue.record("there is no entry")
            return true
        }
        #expect(try folder.entries().isEmpty)
    }

    @Test("removes a file once")
    func removal() throws {
        try directory.replace("a", "one")
        #expect(try directory.remove(RelativePath("a")))
        #expect(try directory.remove(RelativePath("a")) == false)
        #expect(try directory.text("a") == nil)
        #expect(try folder.entries("top/place") == [".tmp"])
    }

    @Test("refuses a relative root")
    func relativeRoot() {
        let error = #expect(throws: StorageError.self) { try DurableDirectory(root: "a/b") }
        #expect(error?.message == "cannot open 'a/b': invalid argument (EINVAL)")
    }

    @Test("names the file that is where a folder should be", arguments: ["top", "top/place"])
    func fileInTheWay(path: String) throws {
        try FileManager.default.createDirectory(atPath: folder.path + "/top", withIntermediateDirectories: true)
        if path == "top" { #expect(rmdir(folder.path + "/top") == 0) }
        try Data().write(to: URL(filePath: "\(folder.path)/\(path)"))
        let error = #expect(throws: StorageError.self) { try directory.replace("a", "one") }
        #expect(error?.systemError == ENOTDIR)
        #expect(error?.code == .fileError)
        #expect(
            error?.message.contains("the old state is kept: cannot open the folder '\(folder.path)/\(path)") == true)
        #expect(throws: StorageError.fileError) { try directory.text("a") }
    }

    @Test("creates folders and files for the owner only, and keeps the modes of existing folders")
    func privateModes() throws {
        #expect(chmod(folder.path, 0o755) == 0)
        try directory.replace("a", "one")
        #expect(try mode(".") == 0o755)
        #expect(try mode("top") == 0o700)
        #expect(try mode("top/place") == 0o700)
        #expect(try mode("top/place/.tmp") == 0o700)
        #expect(try mode("top/place/a") == 0o600)
    }

    @Test(
        "makes folders and files for nobody else below a folder that its group cannot write to, set-group-ID bit or not",
        arguments: [0o2750, 0o2755, 0o2700, 0o0770] as [mode_t], [0o000, 0o002, 0o077] as [mode_t])
    func homeModes(_ parent: mode_t, _ mask: mode_t) async {
        await #expect(processExitsWith: .success) { [parent, mask] in
            let folder = try TemporaryFolder()
            umask(mask)
            #expect(chmod(folder.path, parent) == 0)
            let directory = try DurableDirectory(root: folder.path + "/top", folders: ["place"])
            try directory.replace(RelativePath(pieces: ["x~".utf8, "a".utf8]), "one")
            func mode(_ path: String) -> UInt32 {
                var status = stat()
                return lstat("\(folder.path)/top/\(path)", &status) == 0 ? status.st_mode & 0o7777 : 0
            }
            for path in [".", "place", "place/.tmp", "place/x~"] { #expect(mode(path) == 0o700, "\(path)") }
            #expect(mode("place/x~/a") == 0o600)
        }
    }

    @Test("makes folders and files for a group below a folder with the set-group-ID bit, whatever the umask")
    func groupModes() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            umask(0o077)
            #expect(chmod(folder.path, 0o2770) == 0)
            let directory = try DurableDirectory(root: folder.path + "/top", folders: ["place"])
            try directory.replace(RelativePath(pieces: ["x~".utf8, "a".utf8]), "one")
            func mode(_ path: String) -> UInt32 {
                var status = stat()
                return lstat("\(folder.path)/top/\(path)", &status) == 0 ? status.st_mode & 0o7777 : 0
            }
            for path in [".", "place", "place/.tmp", "place/x~"] { #expect(mode(path) == 0o2770) }
            #expect(mode("place/x~/a") == 0o660)
        }
    }

    @Test("creates the folders above a file, and removes them with the last file")
    func foldersOnTheWay() throws {
        let first = RelativePath(pieces: ["x~".utf8, "y~".utf8, "a".utf8])
        let second = RelativePath(pieces: ["x~".utf8, "b".utf8])
        try directory.replace(first, "one")
        try directory.replace(second, "two")
        #expect(folder.content("top/place/x~/y~/a") == Array("one".utf8))
        #expect(try directory.text(second) == "two")
        #expect(try directory.remove(first))
        #expect(try folder.entries("top/place/x~") == ["b"])
        #expect(try directory.remove(second))
        #expect(try folder.entries("top/place") == [".tmp"])
        #expect(try directory.remove(second) == false)
    }

    @Test("replaces and removes files in one intermediate folder from many threads")
    func foldersComeAndGo() throws {
        let directory = directory
        let failures = Mutex<[String]>([])
        onThreads(8) { thread in
            let path = RelativePath(pieces: ["x~".utf8, "y~".utf8, "f\(thread)".utf8])
            do {
                for round in 0..<20 {
                    try directory.replace(path, "\(thread) \(round)")
                    guard try directory.text(path) == "\(thread) \(round)" else { throw CancellationError() }
                    guard try directory.remove(path), try directory.text(path) == nil else { throw CancellationError() }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try folder.entries("top/place") == [".tmp"])
    }

    @Test("finds a folder that was deleted or renamed and then recreated", arguments: [true, false])
    func replacedFolder(isRenamed: Bool) throws {
        try directory.replace("a", "old")
        let place = folder.path + "/top/place"
        if isRenamed {
            #expect(rename(place, folder.path + "/away") == 0)
        } else {
            try FileManager.default.removeItem(atPath: place)
            #expect(try directory.text("a") == nil)
        }
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        try Data("new".utf8).write(to: URL(filePath: place + "/b"))
        #expect(try directory.text("b") == "new")
        #expect(try directory.text("a") == nil)
        try FileManager.default.removeItem(atPath: folder.path + "/top")
        try directory.replace("a", "again")
        #expect(folder.content("top/place/a") == Array("again".utf8))
    }

    @Test("writes and removes in the folder that has the path now", arguments: [true, false])
    func writesToTheCurrentFolder(isMadeAnew: Bool) throws {
        try directory.replace("a", "old")
        #expect(rename(folder.path + "/top/place", folder.path + "/away") == 0)
        if isMadeAnew { #expect(mkdir(folder.path + "/top/place", 0o700) == 0) }
        try directory.replace("a", "new")
        #expect(folder.content("away/a") == Array("old".utf8))
        #expect(folder.content("top/place/a") == Array("new".utf8))
        try FileManager.default.removeItem(atPath: folder.path + "/top")
        #expect(rename(folder.path + "/away", folder.path + "/top") == 0)
        #expect(try directory.remove(RelativePath("a")) == false)
        #expect(folder.content("top/a") == Array("old".utf8))
    }

    @Test("writes while the folder is deleted again and again")
    func deletedMeanwhile() throws {
        let directory = directory
        let path = folder.path + "/top"
        let failures = Mutex<[String]>([])
        onThreads(3) { thread in
            for round in 0..<60 {
                do {
                    if thread == 0 {
                        try? FileManager.default.removeItem(atPath: path)
                    } else {
                        try directory.replace("f\(thread)", "\(round)")
                        _ = try directory.text("f\(thread)")
                    }
                } catch let error as StorageError where error.systemError == ENOENT {
                    // The folder was deleted during each attempt. The error says so, and the old state is kept.
                    continue
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
        try directory.replace("a", "one")
        #expect(folder.content("top/place/a") == Array("one".utf8))
    }

    @Test("lists regular files, folders and links with their kind, but nothing hidden")
    func entries() throws {
        try directory.replace("a", "one")
        #expect(symlink("a", folder.path + "/top/place/link") == 0)
        #expect(mkdir(folder.path + "/top/place/sub", 0o700) == 0)
        #expect(mkfifo(folder.path + "/top/place/pipe", 0o600) == 0)
        try Data().write(to: URL(filePath: folder.path + "/top/place/.hidden"))
        var found: [String: FileKind] = [:]
        try directory.forEachEntry { name, kind in
            found[String(decoding: name, as: UTF8.self)] = kind
            return true
        }
        #expect(found == ["a": .regular, "link": .symbolicLink, "sub": .directory, "pipe": .unknown])
    }

    private func mode(_ path: String) throws -> UInt32 {
        var status = stat()
        try #require(lstat("\(folder.path)/\(path)", &status) == 0)
        return status.st_mode & 0o7777
    }
}
