import DurableFiles
import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("Watching a folder")
struct FolderWatchTests {
    private let folder: TemporaryFolder
    private let directory: DurableDirectory
    private let file = FolderChange.file(folders: [], name: Array("a".utf8))

    init() throws {
        folder = try TemporaryFolder()
        directory = try DurableDirectory(root: folder.path + "/one/two/three")
    }

    private func watch() throws -> Listener { try Listener(directory.path) }

    @Test("reports files that are replaced and removed, each by its name")
    func told() throws {
        try directory.make()
        let listener = try watch()
        defer { listener.end() }
        for text in ["one", "two"] {
            try directory.replace("a", text)
            try #require(listener.hears(file), "\(listener.told)")
        }
        #expect(try directory.remove(RelativePath("a")))
        try #require(listener.hears(file), "\(listener.told)")
        #expect(listener.told.allSatisfy { $0 == file }, "\(listener.told)")
    }

    @Test("reports files in the folders that it enters, also short-lived ones")
    func entered() throws {
        try directory.make()
        let deep = RelativePath(pieces: ["x~", "y~", "file"].map { Array($0.utf8) })
        let change = FolderChange.file(
            folders: ["x~", "y~"].map { Array($0.utf8) }, name: Array("file".utf8))
        let listener = try watch()
        defer { listener.end() }
        for _ in 0..<3 {
            try directory.replace(deep, "text")
            try #require(listener.hears(change), "\(listener.told)")
            #expect(try directory.remove(deep))
            try #require(listener.hears(change), "\(listener.told)")
        }
        try TemporaryFolder.makeFolder(directory.path + "/other")
        try Data().write(to: URL(filePath: directory.path + "/other/file"))
        try directory.replace("a", "last")
        try #require(listener.hears(file))
        #expect(!listener.told.contains { $0 != file && $0 != change && $0 != .anything }, "\(listener.told)")
    }

    @Test("watches the folders that existed before")
    func before() throws {
        let deep = RelativePath(pieces: ["x~", "file"].map { Array($0.utf8) })
        try directory.replace(deep, "text")
        let listener = try watch()
        defer { listener.end() }
        #expect(listener.told == [])
        try directory.replace(deep, "other")
        try #require(listener.hears(.file(folders: [Array("x~".utf8)], name: Array("file".utf8))))
    }

    @Test("waits for a folder that does not exist yet, with any number of missing folders above it")
    func missing() throws {
        let listener = try watch()
        defer { listener.end() }
        try directory.replace("a", "text")
        try #require(listener.hears(.anything), "\(listener.told)")
        try directory.replace("a", "other")
        try #require(listener.hears(file), "\(listener.told)")
    }

    @Test(
        "follows its path when one of its folders is removed or moved, and recreated",
        arguments: ["one", "one/two/three"])
    func replaced(name: String) throws {
        let path = "\(folder.path)/\(name)"
        try directory.replace("a", "text")
        let listener = try watch()
        defer { listener.end() }
        for isMoved in [true, false] {
            if isMoved {
                #expect(rename(path, "\(path)-moved") == 0)
            } else {
                try FileManager.default.removeItem(atPath: path)
            }
            try #require(listener.hears(.anything), "\(listener.told)")
            try DurableDirectory(root: directory.path).replace("a", "text")
            try #require(listener.hears(.anything), "\(listener.told)")
            try DurableDirectory(root: directory.path).replace("a", "other")
            try #require(listener.hears(file), "\(listener.told)")
        }
    }

    @Test("notifies each of many watches, also those of one folder, and none after its end")
    func ends() throws {
        try directory.make()
        let listeners = try (0..<10).map { _ in try watch() }
        for (index, listener) in listeners.enumerated() {
            try directory.replace("a", "\(index)")
            for other in listeners[index...] { try #require(other.hears(file)) }
            listener.end()
            listener.end()
        }
        try directory.replace("a", "last")
        let last = try watch()
        defer { last.end() }
        try directory.replace("b", "last")
        try #require(last.hears(.file(folders: [], name: Array("b".utf8))))
        #expect(listeners.allSatisfy { $0.told == [] })
    }

    @Test("never reports after the end, whatever happens meanwhile")
    func race() throws {
        try directory.make()
        let directory = directory
        let isDone = Atomic<Bool>(false)
        let failures = Mutex<[String]>([])
        onThreads(3) { thread in
            do {
                if thread == 0 {
                    defer { isDone.store(true, ordering: .relaxed) }
                    for round in 0..<100 { try directory.replace("a", "\(round)") }
                    return
                }
                while !isDone.load(ordering: .relaxed) {
                    let flags = Flags()
                    let watch = try FolderWatch(directory.path, entersFolder: { _ in false }) { _ in flags.tell() }
                    watch.end()
                    flags.end()
                    if flags.isTold { failures.withLock { $0.append("told after the end") } }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock(\.self) == [])
    }

    /// Runs in a separate process, since it leaves no file to open.
    @Test("reports that anything may have changed in a folder that it cannot list, with too many files open")
    func unlisted() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let directory = try DurableDirectory(root: folder.path)
            try directory.replace("first", "")
            // Blocks the thread of all watches.
            let (isHeld, mayGo) = (Gate(), Gate())
            let holder = try FolderWatch(directory.path, entersFolder: { _ in false }) { _ in
                isHeld.open()
                mayGo.wait()
            }
            try directory.replace("first", "")
            #expect(isHeld.wait())
            let listener = try Listener(directory.path)
            var limit = rlimit()
            #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            limit.rlim_cur = 64
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            while dup(STDERR_FILENO) >= 0 {}
            #expect(mkdir(directory.path + "/x~", 0o700) == 0)
            #expect(rename(directory.path + "/first", directory.path + "/x~/file") == 0)
            mayGo.open()
            #expect(listener.hears(.anything))
            holder.end()
            listener.end()
        }
    }

    /// Runs in a separate process, because all watches of a process are notified.
    @Test("reports that the queue has lost events")
    func overflow() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let directory = try DurableDirectory(root: folder.path)
            let text = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
            let limit = try #require(Int(text.filter(\.isNumber)))
            try #require(limit <= 1 << 17, "the system's queue is too long to be filled here")
            try directory.replace("first", "")
            // Blocks the thread of all watches until more has happened than the queue has room for.
            let (isHeld, mayGo) = (Gate(), Gate())
            let holder = try FolderWatch(directory.path, entersFolder: { _ in false }) { _ in
                isHeld.open()
                mayGo.wait()
            }
            try directory.replace("first", "")
            #expect(isHeld.wait())
            let listener = try Listener(directory.path)
            try Data().write(to: URL(filePath: directory.path + "/.tmp/x"))
            let (outside, inside) = (directory.path + "/.tmp/x", directory.path + "/x")
            for _ in 0...limit / 2 + 1 {
                #expect(rename(outside, inside) == 0)
                #expect(rename(inside, outside) == 0)
            }
            mayGo.open()
            #expect(listener.hears(.anything))
            holder.end()
            listener.end()
        }
    }
}
