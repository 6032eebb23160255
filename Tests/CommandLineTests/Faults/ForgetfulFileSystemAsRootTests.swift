import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// A power loss on a file system in user space, which keeps only synchronized data. On such a file system the kernel
/// reports syncfs(2) as done, and does nothing.
@Suite(
    "A file system that drops what was not synchronized",
    .enabled(if: Users.areAvailable && access("/dev/fuse", R_OK) == 0))
struct ForgetfulFileSystemAsRootTests {
    @Test("loses nothing of an acknowledged batch, and keeps none of its staged files", arguments: [2, 40])
    func batch(count: Int) throws {
        let home = try Home()
        try home.keepUserDefaultsInFiles()
        let mounted = "\(home.path)/mounted"
        #expect(mkdir(mounted, 0o755) == 0)
        let program = "\(Repository.root)/Tests/CommandLineTests/Programs/forgetful.py"
        let start = try home.run("/usr/bin/python3", [program, mounted])
        try #require(start.status == 0, "\(start.errors)")
        defer { umount2(mounted, Int32(MNT_DETACH)) }
        let data = ["XDG_DATA_HOME": "\(mounted)/data"]
        for round in ["old", "new"] {
            let lines = (0..<count).map { "{\"set\": \"userDefaults/k\($0)\", \"value\": \"\(round) \($0)\"}\n" }
            let ending = try home.run("batch", input: Array(lines.joined().utf8), adding: data)
            #expect(ending.status == 0, "\(ending.errors)")
        }
        // Instead of creating this folder, the file system discards all data that was not synchronized.
        mkdir("\(mounted)/.power-cut", 0o700)
        for index in [0, 1, count - 1] {
            let ending = try home.run("get", "userDefaults/k\(index)", adding: data)
            #expect(ending.text.contains("new \(index)"), "'\(ending.text)' \(ending.errors)")
        }
        let place = "\(mounted)/data/localdata/files/userDefaults"
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(place)/.tmp") == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: place).count == count + 1)
    }

    @Test("keeps no spool of a program that was killed")
    func spool() throws {
        let home = try Home()
        let mounted = "\(home.path)/mounted"
        #expect(mkdir(mounted, 0o755) == 0)
        let program = "\(Repository.root)/Tests/CommandLineTests/Programs/forgetful.py"
        try #require(try home.run("/usr/bin/python3", [program, mounted, "cached"]).status == 0)
        defer { umount2(mounted, Int32(MNT_DETACH)) }
        let folder = "\(mounted)/data/localdata"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let held = open("\(folder)/.localdata-1", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(held) }
        #expect(flock(held, LOCK_EX | LOCK_NB) == 0)
        try Data("left".utf8).write(to: URL(filePath: "\(folder)/.localdata-2"))
        let ending = try home.run("set", "userDefaults/a", "1", adding: ["XDG_DATA_HOME": "\(mounted)/data"])
        #expect(ending.status == 0, "\(ending.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(names.filter { $0.hasPrefix(".localdata-") } == [".localdata-1"])
    }
}
