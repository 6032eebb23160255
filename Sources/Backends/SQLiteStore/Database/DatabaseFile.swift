import DurableFiles
import Glibc
import LocalDataAPI

/// Makes the file of a database: complete at once, so that no process ever sees a part of one, and of processes that
/// make it at the same time one has made it.
struct DatabaseFile {
    private let path: String
    private let folder: String

    init(_ path: String) {
        self.path = path
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.utf8.startIndex
        folder = slash == path.utf8.startIndex ? "/" : String(path[..<slash])
    }

    /// Makes the folder, if it is missing, and an empty database in it, unless there is a file.
    func make() throws {
        try makeFolder()
        try Schema.withEmptyDatabase { content in
            let file = try UnnamedFile.make(in: folder)
            try file.write(content)
            try file.synchronize()
            try file.publish(as: path)
        }
        try synchronizeNames()
    }

    /// Makes the names of the database and of its log durable. SQLite does so too when it has made the log, and takes no
    /// notice if it fails.
    func synchronizeNames() throws {
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw StorageError.system(errno, "open the folder '\(folder)'") }
        defer { _ = close(directory) }
        while fsync(directory) != 0 {
            // EINVAL: a file system that has no such operation for folders.
            if errno == EINVAL { return }
            guard errno == EINTR else { throw StorageError.system(errno, "synchronize the folder '\(folder)'") }
        }
    }

    /// A file without a name beside the database, for what is to be written into it.
    func spool() throws -> UnnamedFile {
        try makeFolder()
        return try UnnamedFile.make(in: folder)
    }

    private func makeFolder() throws {
        do { try DurableDirectory(root: folder).make() } catch let error as SystemCallError {
            throw StorageError.system(error.code, "\(error.call) '\(error.path)'")
        }
    }
}
