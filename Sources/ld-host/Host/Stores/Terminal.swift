internal import ByteCoding
internal import Glibc
package import HostGround
package import LocalDataAPI
internal import Synchronization

/// Prompts for a person.
package enum Terminal {
    /// The longest answer, in bytes.
    private static let longest = 64 << 10
    /// What takes a line away that the terminal shows only for a while, so that a prompt has one of its own.
    private static let clearing = Mutex<(@Sendable () -> Void)?>(nil)

    /// Lets every prompt begin with a call of `clear`.
    package static func beforePrompts(_ clear: @escaping @Sendable () -> Void) { clearing.withLock { $0 = clear } }

    /// Prompts at the terminal. The answer is kept in memory that is cleared.
    ///
    /// Ctrl-C ends the program, as elsewhere, after restoring the terminal.
    ///
    /// - Parameters:
    ///   - isHidden: Whether the input is a secret, which must not be shown.
    ///   - nothing: The error if the input ends without a line.
    /// - Returns: The line without its end; `nil` if there is no terminal.
    /// - Throws: `nothing`; `valueTooLarge` if it is longer than 64 KiB.
    package static func line(
        prompt: String, isHidden: Bool, orElse nothing: StorageError
    ) throws(StorageError) -> SecretBytes? {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        var settings = termios()
        guard tcgetattr(terminal, &settings) == 0 else { return nil }
        var typing = settings
        typing.c_lflag &= ~tcflag_t(isHidden ? ECHO | ISIG : ISIG)
        // Without ISIG the interrupt character is text; as an additional end of line it is delivered at once.
        let interrupt = withUnsafeMutableBytes(of: &typing.c_cc) { characters in
            characters[Int(VEOL)] = characters[Int(VINTR)]
            return characters[Int(VINTR)]
        }
        // Input typed before the prompt was shown is not part of a secret.
        let when = isHidden ? TCSAFLUSH : TCSADRAIN
        tcsetattr(terminal, when, &typing)
        defer { tcsetattr(terminal, when, &settings) }
        clearing.withLock { $0 }?()
        _ = Array(prompt.utf8).withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
        var count = 0
        let line = try SecretBytes(count: longest) { (line) throws(StorageError) in
            while true {
                var byte: UInt8 = 0
                let got = read(terminal, &byte, 1)
                if got < 0, errno == EINTR { continue }
                guard got == 1 else {
                    _ = write(terminal, "\n", 1)
                    throw nothing
                }
                if byte == UInt8(ascii: "\n") { break }
                if byte == interrupt {
                    tcsetattr(terminal, TCSAFLUSH, &settings)
                    EndingSignal.end(by: SIGINT)
                    // Still running: the program's parent made it ignore the interrupt.
                    throw nothing
                }
                guard count < line.count else {
                    throw StorageError(.valueTooLarge, "the input is longer than \(longest) bytes")
                }
                line[count] = byte
                count += 1
            }
        }
        if isHidden { _ = write(terminal, "\n", 1) }
        return try line.prefix(count)
    }
}
