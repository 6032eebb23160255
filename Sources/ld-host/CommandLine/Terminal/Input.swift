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

    /// The name of a file in messages.
    static func name(of path: String) -> String { path == "-" ? "standard input" : "'\(path)'" }

    /// The whole content of a file, or of standard input for `-`.
    ///
    /// - Throws: `fileError` if it cannot be read, or has more than `limit` bytes.
    static func contents(of path: String, limit: Int = .max) throws(StorageError) -> Data {
        var data = Data()
        try read(path) { (piece, name) throws(StorageError) in
            data.append(contentsOf: piece)
            guard data.count <= limit else {
                throw StorageError(.fileError, "\(name) has more than \(limit) bytes, which is the most that is read")
            }
        }
        return data
    }

    /// The first bytes of a file, or of standard input for `-`, and how many there are in all: it is read to its end.
    static func start(of path: String, atMost limit: Int) throws(StorageError) -> (data: Data, size: UInt64) {
        var (data, size) = (Data(), UInt64(0))
        try read(path) { piece, _ in
            data.append(contentsOf: piece.prefix(limit - data.count))
            size += UInt64(piece.count)
        }
        return (data, size)
    }

    /// Opens a file, or standard input for `-`, if it can be read more than once; the caller closes it.
    static func regularFile(at path: String) throws(StorageError) -> CInt? {
        var status = stat()
        // A pipe is opened once, by what reads it.
        let isThere = path == "-" ? fstat(STDIN_FILENO, &status) == 0 : stat(path, &status) == 0
        return isThere && status.st_mode & S_IFMT == S_IFREG ? try open(path) : nil
    }

    private static func open(_ path: String) throws(StorageError) -> CInt {
        let file = path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            throw StorageError(
                .fileError, "'\(path)' cannot be opened: \(String(cString: strerror(errno)))",
                hint: "name a file that can be read, or - for standard input")
        }
        return file
    }

    /// Reads a file, or standard input for `-`, piece by piece to its end; `take` gets its name for errors, too.
    private static func read(
        _ path: String, _ take: (UnsafeRawBufferPointer, String) throws(StorageError) -> Void
    ) throws(StorageError) {
        let file = try open(path)
        defer { close(file) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer {
            clear(buffer)
            buffer.deallocate()
        }
        let name = name(of: path)
        while case let count = try read(file, named: name, into: buffer), count > 0 {
            try take(UnsafeRawBufferPointer(rebasing: buffer[..<count]), name)
        }
    }

    /// The whole of standard input, or of another descriptor, in memory that is cleared.
    ///
    /// - Throws: `valueTooLarge` if it has more than `limit` bytes.
    static func secret(
        from descriptor: Int32 = STDIN_FILENO, named name: String = "standard input", limit: Int
    ) throws(StorageError) -> SecretBuffer {
        let buffer = SecretBuffer()
        let source: SecretBuffer.Source = { (memory) throws(StorageError) in
            try read(descriptor, named: name, into: memory)
        }
        while try buffer.append(upTo: 16 << 10, from: source) > 0 {
            guard buffer.count <= limit else {
                throw StorageError(
                    .valueTooLarge, "\(name) has more than \(limit) bytes, which is the most that is read")
            }
        }
        return buffer
    }

    /// Standard input, piece by piece.
    static func standard(_ memory: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
        try read(STDIN_FILENO, into: memory)
    }
}
