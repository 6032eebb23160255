internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost

/// Where values come from: standard input, or a file.
enum Input {
    /// Fills a buffer from a descriptor; 0 at the end.
    static func read(
        _ descriptor: Int32, named name: String = "standard input", into buffer: UnsafeMutableRawBufferPointer
    ) throws(StorageError) -> Int {
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR else {
                throw StorageError(.fileError, "\(name) cannot be read: \(String(cString: strerror(errno)))")
            }
        }
    }

    /// The whole content of a file, or of standard input for `-`.
    ///
    /// - Throws: `fileError` if it cannot be read, or has more than `limit` bytes.
    static func contents(of path: String, limit: Int = .max) throws(StorageError) -> Data {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw StorageError(
                .fileError, "'\(path)' cannot be opened: \(String(cString: strerror(errno)))",
                hint: "name a file that can be read, or - for standard input")
        }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var data = Data()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { buffer.deallocate() }
        let name = path == "-" ? "standard input" : "'\(path)'"
        while case let count = try read(descriptor, named: name, into: buffer), count > 0 {
            data.append(contentsOf: buffer[..<count])
            guard data.count <= limit else {
                throw StorageError(.fileError, "\(name) has more than \(limit) bytes, which is the most that is read")
            }
        }
        return data
    }

    /// The whole of standard input, in memory that is cleared.
    ///
    /// - Throws: `valueTooLarge` if it has more than `limit` bytes.
    static func secret(limit: Int) throws(StorageError) -> SecretBuffer {
        let buffer = SecretBuffer()
        while try buffer.append(upTo: 16 << 10, from: standard) > 0 {
            guard buffer.count <= limit else {
                throw StorageError(
                    .valueTooLarge, "standard input has more than \(limit) bytes, which is the most that is read")
            }
        }
        return buffer
    }

    /// Standard input, piece by piece.
    static func standard(_ memory: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
        try read(STDIN_FILENO, into: memory)
    }
}
