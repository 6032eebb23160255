import DurableFiles
import Glibc
import LocalDataAPI
import LocalDataHost
import Testing

@Suite("FileTrust")
struct FileTrustTests {
    private static let isRoot = geteuid() == 0
    private static let stranger: uid_t = 4242
    /// The advice where no command of the user's helps.
    private static let otherwise = "if you trust it, use a copy in a folder that only you can write to"

    @Test("a file of ours below folders of ours is trusted, with its identity")
    func trusted() throws {
        try PluginScratch.with { scratch in
            let path = try scratch.file("plugin.so", Array("12345".utf8))
            let trusted = try FileTrust.check(path)
            #expect(trusted.path == path)
            #expect(trusted.identity.size == 5)
            var status = stat()
            try #require(stat(path, &status) == 0)
            #expect(trusted.identity.device == UInt64(status.st_dev))
            #expect(trusted.identity.inode == UInt64(status.st_ino))
            #expect(trusted.identity == FileVersion(status))
        }
    }

    @Test("the identity differs once the file is rewritten, even with its modification time restored")
    func identityDiffers() throws {
        try PluginScratch.with { scratch in
            let path = try scratch.file("plugin.so", Array("aaaa".utf8))
            // A time in the past keeps the clock's resolution out of the comparison.
            var past = [timespec(tv_sec: 1000, tv_nsec: 7), timespec(tv_sec: 1000, tv_nsec: 7)]
            try #require(utimensat(AT_FDCWD, path, &past, 0) == 0)
            let before = try FileTrust.check(path).identity
            #expect(before.modified == 1_000_000_000_007)
            var after = before
            for _ in 0..<1_000_000 where after == before {
                try scratch.file("plugin.so", Array("bbbb".utf8))
                try #require(utimensat(AT_FDCWD, path, &past, 0) == 0)
                after = try FileTrust.check(path).identity
            }
            #expect(after.modified == before.modified)
            #expect(after.size == before.size)
            #expect(after.inode == before.inode)
            #expect(after.changed > before.changed)
        }
    }

    @Test("a file time beyond any calendar is accepted without a trap")
    func farTime() throws {
        var status = stat()
        status.st_mtim = timespec(tv_sec: .max, tv_nsec: 999_999_999)
        status.st_ctim = timespec(tv_sec: .min, tv_nsec: 0)
        #expect(FileVersion(status) == FileVersion(status))
    }

    @Test("a chain of symbolic links ends at the real path")
    func chain() throws {
        try PluginScratch.with { scratch in
            let folder = try scratch.folder("real")
            let path = try scratch.file("real/plugin.so")
            try scratch.link("folder", to: "real")
            try scratch.link("one", to: "folder/plugin.so")
            try scratch.link("two", to: scratch.path + "/one")
            let third = try scratch.link("three", to: "two")
            #expect(try FileTrust.check(third).path == path)
            try #require(chmod(folder, 0o777) == 0)
            let error = try PluginScratch.refusal { try FileTrust.check(third) }
            let start = "plugin file \(third) (really \(path)) is below the folder \(folder), which is writable"
            #expect(error.message.hasPrefix(start))
        }
    }

    @Test("a relative path starts at the working directory and becomes absolute")
    func relative() throws {
        try PluginScratch.with { scratch in
            let path = try scratch.file("plugin.so")
            let here = try #require(getcwd(nil, 0))
            defer { free(here) }
            let depth = String(cString: here).split(separator: "/").count
            let relative = String(repeating: "../", count: depth) + path.dropFirst()
            #expect(try FileTrust.check(relative).path == path)
        }
    }

    @Test(
        "a file that others can write is refused, with the command that repairs it",
        arguments: PluginScratch.others(
            [
                (mode: mode_t(0o666), who: "its group and others"), (0o646, "others"), (0o1666, "its group and others"),
            ], toGroup: (0o664, "its group")))
    func writableFile(mode: mode_t, who: String) throws {
        try PluginScratch.with { scratch in
            let path = try scratch.file("it's.so")
            try #require(chmod(path, mode) == 0)
            let error = try PluginScratch.refusal { try FileTrust.check(path) }
            #expect(error.message.hasPrefix("plugin file \(path) is writable by \(who) (mode "))
            #expect(error.message.contains(String(mode, radix: 8)))
            #expect(error.message.hasSuffix("expected to be writable by its owner only"))
            let command = try #require(error.hint.split(separator: "run: ").last)
            #expect(command.hasPrefix("chmod go-w '"))
            try scratch.shell(String(command))
            #expect(try FileTrust.check(path).path == path)
        }
    }

    @Test(
        "a file that the user's private group can write is the user's",
        .enabled(if: Ownership.isOwn(getegid(), of: geteuid()), "this user has no group of its own"))
    func ownGroup() throws {
        try PluginScratch.with { scratch in
            let path = try scratch.file("own.so")
            try #require(chmod(path, 0o664) == 0)
            #expect(try FileTrust.check(path).path == path)
        }
    }

    @Test("a folder that others can write is refused wherever it is above the file", arguments: ["a", "a/b", "a/b/c"])
    func writableFolder(name: String) throws {
        try PluginScratch.with { scratch in
            for folder in ["a", "a/b", "a/b/c"] { _ = try scratch.folder(folder) }
            let path = try scratch.file("a/b/c/plugin.so")
            let folder = scratch.path + "/" + name
            try #require(chmod(folder, 0o777) == 0)
            let error = try PluginScratch.refusal { try FileTrust.check(path) }
            #expect(error.message.contains("is below the folder \(folder), which is writable by its group and others"))
            #expect(error.message.contains("(mode 0777)"))
            #expect(error.hint.hasSuffix("chmod go-w '\(folder)'"))
        }
    }

    @Test("a sticky folder that others can write to is fine above our own", arguments: [mode_t(0o1777), 0o1775])
    func stickyFolder(mode: mode_t) throws {
        try PluginScratch.with { scratch in
            let folder = try scratch.folder("shared")
            let path = try scratch.file("shared/plugin.so")
            try #require(chmod(folder, mode) == 0)
            #expect(try FileTrust.check(path).path == path)
        }
    }

    @Test("a file or folder that another user owns is refused, in a sticky folder too", .enabled(if: isRoot))
    func strangersOwnAsRoot() throws {
        try PluginScratch.with { scratch in
            let folder = try scratch.folder("shared")
            let path = try scratch.file("shared/plugin.so")
            try #require(chmod(folder, 0o1777) == 0)
            try #require(chown(path, Self.stranger, 0) == 0)
            let file = try PluginScratch.refusal { try FileTrust.check(path) }
            #expect(file.message == "plugin file \(path) is owned by uid 4242, expected uid 0 (root)")
            #expect(file.hint == "if you trust it, run: chown 0 '\(path)'")
            try #require(chown(path, 0, 0) == 0)
            try #require(chmod(folder, 0o755) == 0)
            try #require(chown(folder, Self.stranger, 0) == 0)
            let above = try PluginScratch.refusal { try FileTrust.check(path) }
            #expect(above.message.contains("is below the folder \(folder), which is owned by uid 4242"))
            #expect(above.hint == Self.otherwise)
        }
    }

    @Test("a user's own file is trusted by that user and refused to another", .enabled(if: isRoot))
    func ownersOwnAsRoot() throws {
        try PluginScratch.with { scratch in
            let path = try scratch.file("plugin.so")
            try #require(chown(path, Self.stranger, 0) == 0)
            #expect(try FileTrust.check(path, for: Self.stranger).path == path)
            let error = try PluginScratch.refusal { try FileTrust.check(path, for: 77) }
            #expect(error.message.hasSuffix("is owned by uid 4242, expected uid 77 or uid 0 (root)"))
            #expect(error.hint == Self.otherwise)
        }
    }

    @Test("no advice names a folder of another user")
    func strangersFolder() throws {
        try PluginScratch.with { scratch in
            let folder = try scratch.folder("theirs")
            let path = try scratch.file("theirs/plugin.so")
            if Self.isRoot { try #require(chown(folder, 77, 77) == 0) }
            let error = try PluginScratch.refusal { try FileTrust.check(path, for: Self.stranger) }
            #expect(error.message.contains("is below the folder /") && error.message.contains("which is owned by uid"))
            #expect(error.hint == Self.otherwise)
        }
    }

    @Test("no advice names an open folder of root's to a user, or an open file", .enabled(if: isRoot))
    func rootsOpenFolderAsRoot() throws {
        try PluginScratch.with { scratch in
            let folder = try scratch.folder("open")
            let path = try scratch.file("open/plugin.so")
            for (open, mode) in [(folder, mode_t(0o777)), (path, 0o666)] {
                try #require(chmod(folder, 0o755) == 0 && chmod(open, mode) == 0)
                let error = try PluginScratch.refusal { try FileTrust.check(path, for: Self.stranger) }
                #expect(error.message.contains("is writable by its group and others"))
                #expect(error.hint == Self.otherwise)
            }
        }
    }

    @Test("a directory, a FIFO, a socket and a device are refused by name, without waiting")
    func kinds() throws {
        try PluginScratch.with { scratch in
            let fifo = scratch.path + "/fifo"
            try #require(mkfifo(fifo, 0o600) == 0)
            var kinds: [(path: String, name: String)] = [
                (try scratch.folder("folder"), "a directory"), (fifo, "a named pipe (FIFO)"),
                (try scratch.link("link", to: "fifo"), "a named pipe (FIFO)"), ("/dev/null", "a character device"),
            ]
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let socketPath = scratch.path + "/socket"
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socketPath.utf8) }
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            let bound = withUnsafeBytes(of: &address) { bytes in
                bind(
                    descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
                    socklen_t(MemoryLayout<sockaddr_un>.size))
            }
            try #require(bound == 0)
            kinds.append((socketPath, "a socket"))
            for kind in kinds {
                let error = try PluginScratch.refusal { try FileTrust.check(kind.path) }
                #expect(error.message.hasSuffix(" is \(kind.name), expected a regular file"))
            }
        }
    }

    @Test("a missing file is refused with the reason")
    func missing() throws {
        try PluginScratch.with { scratch in
            func message(_ path: String) throws -> String {
                try PluginScratch.refusal { try FileTrust.check(path) }.message
            }
            let file = try scratch.file("plugin.so")
            let missing = scratch.path + "/missing.so"
            #expect(try message(missing) == "plugin file \(missing) does not exist: No such file or directory")
            let dangling = try scratch.link("dangling.so", to: "nowhere.so")
            #expect(try message(dangling).hasSuffix("is a symbolic link to nowhere.so, which does not exist"))
            try scratch.link("a", to: "b")
            let loop = try scratch.link("b", to: "a")
            #expect(try message(loop).contains("Too many levels of symbolic links"))
            #expect(try message(file + "/").contains("Not a directory"))
            #expect(try message("") == "the path of a plugin file is empty")
        }
    }

    @Test("a name that is too long is refused, and not printed in full", arguments: [256, 5000])
    func tooLong(count: Int) throws {
        let path = "/tmp/" + String(repeating: "x", count: count)
        let error = try PluginScratch.refusal { try FileTrust.check(path) }
        #expect(error.message.contains("File name too long"))
        #expect(error.message.contains("\(path.utf8.count) bytes"))
        #expect(error.message.utf8.count < 600)
    }

    @Test("a NUL byte does not make the check examine a file other than the named one")
    func nul() throws {
        try PluginScratch.with { scratch in
            let path = try scratch.file("plugin.so")
            let error = try PluginScratch.refusal { try FileTrust.check(path + "\0.txt") }
            #expect(error.message == "plugin file \(path)\\u{0}.txt cannot exist: its name holds a NUL byte")
        }
    }

    @Test(
        "a name with invisible characters is escaped in the message, and quoted in the command",
        arguments: [
            (name: "two\nlines.so", shown: #"two\nlines.so"#), ("esc\u{1B}[31m.so", #"esc\u{1B}[31m.so"#),
            ("gpj\u{202E}os.so", #"gpj\u{202E}os.so"#), (#"back\slash'\#n.so"#, #"back\\slash'\n.so"#),
        ])
    func invisible(name: String, shown: String) throws {
        try PluginScratch.with { scratch in
            let path = try scratch.file(name)
            try #require(chmod(path, 0o666) == 0)
            let error = try PluginScratch.refusal { try FileTrust.check(path) }
            #expect(error.message.contains("plugin file \(scratch.path)/\(shown) is writable"))
            let command = try #require(error.hint.split(separator: "run: ").last)
            #expect(!command.contains("\n"))
            // The command is what a user pastes into bash.
            try scratch.shell("exec bash -c \"$0\"", [String(command)])
            #expect(try FileTrust.check(path).path == path)
        }
    }

    @Test("a path that is not UTF-8 is refused, not repaired")
    func notUTF8() throws {
        try PluginScratch.with { scratch in
            try scratch.shell(
                "cd \"$0\" && name=$(printf 'a\\377.so') && : > \"$name\" && ln -s \"$name\" link", [scratch.path])
            let error = try PluginScratch.refusal { try FileTrust.check(scratch.path + "/link") }
            #expect(error.message.hasSuffix("expected a path in UTF-8"))
        }
    }
}
