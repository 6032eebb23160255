internal import Glibc
package import LocalDataAPI

/// Reads configuration files.
package enum ConfigurationFile {
    /// A file's document; `nil` if there is no such file.
    ///
    /// - Throws: `invalidConfiguration` naming the file if it cannot be read, is no regular file, or is not well formed.
    package static func document(at path: String) throws(StorageError) -> ConfigurationDocument? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw problem(path, "cannot be opened: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw problem(path, String(cString: strerror(errno))) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw problem(path, "is not a regular file") }
        guard status.st_size <= ConfigurationDocument.maximumSize else {
            throw problem(
                path, "has \(status.st_size) bytes; at most \(ConfigurationDocument.maximumSize) are possible")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= ConfigurationDocument.maximumSize {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw problem(path, "cannot be read: \(String(cString: strerror(errno)))") }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return try ConfigurationDocument(bytes: bytes, source: path)
    }

    private static func problem(_ path: String, _ what: String) -> StorageError {
        StorageError(
            .invalidConfiguration, "configuration file '\(path)' \(what)",
            hint: "correct it, or name another with LOCALDATA_CONFIG")
    }
}
