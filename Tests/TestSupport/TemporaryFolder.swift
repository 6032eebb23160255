import FoundationEssentials
package import Glibc

/// A new folder that is removed with its owner.
package final class TemporaryFolder: Sendable {
    /// The folder, without symbolic links.
    package let path: String

    /// - Parameter inMemory: Whether it may be in memory: for tests that make files durable very often, and are not
    ///   about disks.
    package init(inMemory: Bool = false) throws {
        path = try Self.make(in: inMemory && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : nil)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Makes a new folder, which the caller removes.
    ///
    /// - Parameters:
    ///   - parent: The folder that it is made in; `nil` for the one that `TMPDIR` names, or `/tmp`.
    ///   - name: What its name begins with.
    ///   - mode: By default only its owner can write, and everybody can read.
    /// - Returns: Its path, without symbolic links.
    package static func make(
        in parent: String? = nil, named name: String = "localdata-test", mode: mode_t = 0o755
    ) throws -> String {
        let parent = parent ?? TestRun.environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        var template = Array("\(parent)/\(name).XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil, chmod(template, mode) == 0, let path = realpath(template, nil) else {
            throw TestFailure("no new folder in \(parent): error \(errno)")
        }
        defer { free(path) }
        return String(cString: path)
    }
}

extension TemporaryFolder {
    /// The names in a folder below this one, including hidden ones, sorted.
    package func entries(_ folder: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)").sorted()
    }

    /// The paths of everything except folders below this one, sorted.
    package func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).filter {
            var isFolder = false
            return FileManager.default.fileExists(atPath: "\(path)/\($0)", isDirectory: &isFolder) && !isFolder
        }.sorted()
    }

    /// The bytes of a file; `nil` if it cannot be read.
    package func content(_ file: String) -> [UInt8]? {
        FileManager.default.contents(atPath: "\(path)/\(file)").map(Array.init)
    }

    /// Whether there is a file or folder, possibly at the end of a symbolic link.
    package func exists(_ file: String) -> Bool { FileManager.default.fileExists(atPath: "\(path)/\(file)") }

    /// Writes a file.
    package func write(_ content: some Sequence<UInt8>, to file: String) throws {
        try Data(content).write(to: URL(filePath: "\(path)/\(file)"))
    }

    /// The permission bits of a file or folder.
    package func mode(_ file: String) throws -> Int {
        let mode = try FileManager.default.attributesOfItem(atPath: "\(path)/\(file)")[.posixPermissions]
        return (mode as? Int ?? -1) & 0o7777
    }

    /// Lets the folder be absent for some time.
    @discardableResult
    package func whileAway<Result>(_ body: () async throws -> Result) async throws -> Result {
        let away = "\(path).away"
        try FileManager.default.moveItem(atPath: path, toPath: away)
        defer {
            // What was made in its place meanwhile.
            try? FileManager.default.removeItem(atPath: path)
            try? FileManager.default.moveItem(atPath: away, toPath: path)
        }
        return try await body()
    }

    /// Makes a folder at a path, and its missing parents.
    package static func makeFolder(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
}
