internal import FoundationEssentials
internal import Glibc
internal import LocalDataAPI

/// Where values come from: standard input, a file, or a person at the terminal.
enum Input {
    /// Asks at the terminal, without showing what is typed.
    ///
    /// Ctrl-C ends the program, as it does elsewhere, but not before the terminal shows again what is typed.
    ///
    /// - Returns: The line without its end; `nil` if there is no terminal.
    /// - Throws: `UsageError` if the input ends without a line.
    static func secret(prompt: String) throws -> Data? {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        var settings = termios()
        guard tcgetattr(terminal, &settings) == 0 else { return nil }
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        // Without ISIG the interrupt character is text; as an additional end of line it is handed over at once.
        let interrupt = withUnsafeMutableBytes(of: &silent.c_cc) { characters in
            characters[Int(VEOL)] = characters[Int(VINTR)]
            return characters[Int(VINTR)]
        }
        tcsetattr(terminal, TCSAFLUSH, &silent)
        defer { tcsetattr(terminal, TCSAFLUSH, &settings) }
        _ = Array(prompt.utf8).withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
        var line = Data()
        var byte: UInt8 = 0
        while true {
            let count = Glibc.read(terminal, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else {
                _ = write(terminal, "\n", 1)
                throw nothingTyped
            }
            if byte == UInt8(ascii: "\n") { break }
            if byte == interrupt {
                tcsetattr(terminal, TCSAFLUSH, &settings)
                interruptProgram()
                // Still here: whoever started the program has it ignore the interrupt.
                throw nothingTyped
            }
            line.append(byte)
        }
        _ = write(terminal, "\n", 1)
        return line
    }

    private static var nothingTyped: UsageError {
        UsageError("no value was typed", hint: "an empty value is an empty line, or '' as VALUE")
    }

    /// Ends the program as the interrupt character does, unless SIGINT is ignored.
    private static func interruptProgram() {
        // Threads of the runtime's pool have all signals blocked; the signal would wait for ever.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(SIGINT)
    }

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
}
