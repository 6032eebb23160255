import FoundationEssentials
import Glibc
import TestSupport

/// Files that one user puts where other users find them.
extension Users {
    /// Runs `ld-host` as a user, with a list of words.
    func run(_ user: User, _ words: [String]) throws -> Home.Ending {
        try run(user, program: "\(Self.products)/ld-host", words)
    }

    /// Makes a folder as a user would.
    func makeFolder(_ path: String, _ mode: mode_t, _ user: User) throws {
        try Self.check(mkdir(path, 0o700), "mkdir \(path)")
        try Self.check(chown(path, user.number, user.group), "chown \(path)")
        try Self.check(chmod(path, mode), "chmod \(path)")
    }

    /// Makes a file as a user would.
    func makeFile(_ path: String, _ content: some Sequence<UInt8>, _ mode: mode_t, _ user: User) throws {
        try Data(content).write(to: URL(filePath: path))
        try Self.check(chown(path, user.number, user.group), "chown \(path)")
        try Self.check(chmod(path, mode), "chmod \(path)")
    }

    /// Makes a symbolic link as a user would.
    func makeLink(_ path: String, to target: String, _ user: User) throws {
        try Self.check(symlink(target, path), "symlink \(path)")
        try Self.check(lchown(path, user.number, user.group), "lchown \(path)")
    }

    /// Empties a folder.
    func removeAll(in folder: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            try? FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
    }

    /// The text of a file.
    func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    private static func check(_ result: Int32, _ what: String) throws {
        guard result == 0 else { throw TestFailure("\(what): \(errno)") }
    }
}
