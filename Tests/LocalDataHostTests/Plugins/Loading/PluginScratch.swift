import DurableFiles
import FoundationEssentials
import Glibc
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

/// A temporary folder with the content that a plugin folder may have; removed when the test is over.
struct PluginScratch {
    /// The folder's real path.
    let path: String

    /// Makes the folder, runs the test in it, and removes it.
    static func with<Result>(_ body: (PluginScratch) throws -> Result) throws -> Result {
        let folder = try TemporaryFolder()
        return try withExtendedLifetime(folder) { try body(PluginScratch(path: folder.path)) }
    }

    /// Makes a folder with mode 0755, whatever the umask is.
    func folder(_ name: String) throws -> String {
        try #require(mkdir(path + "/" + name, 0o755) == 0)
        return path + "/" + name
    }

    /// Makes a file with mode 0644, whatever the umask is.
    @discardableResult
    func file(_ name: String, _ bytes: [UInt8] = Array("content".utf8)) throws -> String {
        let descriptor = open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(write(descriptor, bytes, bytes.count) == bytes.count)
        try #require(fchmod(descriptor, 0o644) == 0)
        return path + "/" + name
    }

    /// Makes a symbolic link.
    @discardableResult
    func link(_ name: String, to target: String) throws -> String {
        try #require(symlink(target, path + "/" + name) == 0)
        return path + "/" + name
    }

    /// Compiles C with the system's compiler.
    @discardableResult
    func compile(_ source: String, to name: String, _ options: [String] = ["-shared", "-fPIC"]) throws -> String {
        try file(name + ".c", Array(source.utf8))
        let command = "cd \"$0\" && compiler=$(command -v cc || command -v clang) && exec \"$compiler\" \"$@\""
        try shell(command, [path, "-x", "c", name + ".c", "-o", name] + options)
        return path + "/" + name
    }

    /// Runs a shell command, which must succeed; returns its output.
    @discardableResult
    func shell(_ command: String, _ arguments: [String] = []) throws -> String {
        let shell = ChildProcess(
            "/bin/sh", arguments: ["-c", command] + arguments,
            environment: ["PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"])
        let completion = try shell.run(deadline: .seconds(60))
        try #require(completion.outcome == .exited(code: 0), "\(command): \(completion.errorText)")
        return String(decoding: completion.output, as: UTF8.self)
    }

    /// Modes with which users that are not this one can write: one for the group alone, unless the group is the user's
    /// private one, which is the user.
    static func others<Mode>(_ modes: [Mode], toGroup groupMode: Mode) -> [Mode] {
        Ownership.isOwn(getegid(), of: geteuid()) ? modes : modes + [groupMode]
    }

    /// The refusal that the body throws.
    static func refusal<Result>(_ body: () throws -> Result) throws -> StorageError {
        let error = try #require(throws: StorageError.self) { _ = try body() }
        #expect(error.code == .pluginRefused)
        return error
    }
}
