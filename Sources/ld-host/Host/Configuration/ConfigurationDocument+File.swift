import Glibc
package import LocalDataAPI

extension ConfigurationDocument {
    /// Reads a file; nil if there is none at the path.
    ///
    /// Never waits: what is no regular file - a FIFO, a device, a directory - is refused without reading it. At most
    /// `maximumSize` bytes are read, also from a file that grows meanwhile.
    ///
    /// - Throws: `permissionDenied` if the file may not be read, `fileError` if it cannot be, `invalidConfiguration`
    ///   if it is no regular file, empty, too large, or not well formed.
    package init?(path: String) throws(StorageError) {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else {
            // ENOTDIR: a home of /dev/null, as service users have, has no configuration either.
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw Self.fileError(path, "cannot be opened", errno)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Self.fileError(path, "cannot be examined", errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StorageError(
                .invalidConfiguration,
                "configuration \(path): expected a regular file, found \(Self.kind(of: status.st_mode))")
        }
        guard status.st_size <= Self.maximumSize else { throw Self.tooLarge(path, "\(status.st_size)") }
        let bytes = try Self.contents(of: file, path: path)
        // What an interrupted copy or a full disk left; taken for settings, it would set every domain to its default.
        guard bytes.contains(where: { ![0x09, 0x0A, 0x0D, 0x20].contains($0) }) else {
            throw StorageError(
                .invalidConfiguration, "configuration \(path): expected an object in braces, found an empty file",
                hint: "restore it from a backup, or start with the defaults: echo '{}' > '\(path)'")
        }
        try self.init(bytes: bytes, source: path)
    }

    private static func contents(of file: Int32, path: String) throws(StorageError) -> [UInt8] {
        var contents: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16384)
        while true {
            let count = read(file, &buffer, buffer.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw fileError(path, "cannot be read", errno)
            }
            if count == 0 { return contents }
            contents.append(contentsOf: buffer[..<count])
            if contents.count > maximumSize { throw tooLarge(path, "more") }
        }
    }

    private static func tooLarge(_ path: String, _ found: String) -> StorageError {
        StorageError(
            .invalidConfiguration, "configuration \(path): expected at most \(maximumSize) bytes, found \(found)")
    }

    private static func fileError(_ path: String, _ reason: String, _ number: Int32) -> StorageError {
        let isRefusal = number == EACCES || number == EPERM
        return StorageError(
            isRefusal ? .permissionDenied : .fileError,
            "configuration \(path) \(reason): \(String(cString: strerror(number)))",
            hint: isRefusal ? "make it and the directories above it readable for this user" : "")
    }

    private static func kind(of mode: mode_t) -> String {
        switch mode & S_IFMT {
        case S_IFDIR: "a directory"
        case S_IFIFO: "a FIFO"
        case S_IFCHR, S_IFBLK: "a device"
        default: "another kind of file"
        }
    }
}
