internal import FoundationEssentials
internal import Glibc
internal import JSON
package import LocalDataAPI

extension Manifest {
    /// The most bytes that a file may have.
    static let largestFile = 1 << 20

    /// Reads a file: a regular one, not behind a link, that belongs to this user or root and that nobody else can
    /// write, as what it says moves and removes values. Its numbers keep every digit.
    ///
    /// - Throws: `invalidOptions` with file, line and column of every mistake, or at most ten; `permissionDenied` or
    ///   `fileError` naming the file.
    package init(file path: String) throws(StorageError) {
        let bytes = try Self.contents(of: path)
        let value: JSON
        do throws(JSONFault) { value = try JSON.parse(bytes) } catch {
            let (line, column) = JSONFault.place(of: error.offset, in: bytes)
            throw StorageError(.invalidOptions, "\(path):\(line):\(column): \(error.message)")
        }
        do throws(ManifestFaults) { try self.init(value) } catch { throw error.error(in: path, bytes, value) }
    }

    private static func contents(of path: String) throws(StorageError) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY)
        guard file >= 0 else { throw failure(path, "cannot be opened", errno) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure(path, "cannot be examined", errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StorageError(.invalidOptions, "the manifest '\(path)' is no regular file")
        }
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            throw StorageError(
                .permissionDenied,
                "the manifest '\(path)' belongs to uid \(status.st_uid), expected uid \(geteuid()) or root",
                hint: "copy it to a file of your own")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw StorageError(
                .permissionDenied, "the manifest '\(path)' can be written by others than its owner",
                hint: "make sure that nobody else changed it, then run: chmod go-w FILE")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16384)
        while bytes.count <= largestFile {
            let count = read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(path, "cannot be read", errno) }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
        throw StorageError(.invalidOptions, "the manifest '\(path)' has more than \(largestFile) bytes")
    }

    private static func failure(_ path: String, _ reason: String, _ number: Int32) -> StorageError {
        StorageError(
            number == EACCES || number == EPERM ? .permissionDenied : .fileError,
            "the manifest '\(path)' \(reason): \(String(cString: strerror(number)))",
            hint: number == ELOOP ? "name the file itself, not a link to it" : "")
    }
}
