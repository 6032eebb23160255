import Glibc
import TestSupport

/// A terminal that runs a program, as a person would use it.
final class PseudoTerminal {
    /// TIOCSPTLCK and TIOCGPTN of ioctl_tty(2), and POSIX_SPAWN_SETSID of glibc's spawn.h, which Swift does not see.
    private static let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
    private static let newSession: CInt = 0x80

    private let controller: Int32
    private let process: pid_t
    private(set) var screen: [UInt8] = []

    /// Starts a program as the leader of a new session, with this terminal as its controlling one and as all three
    /// standard descriptors.
    convenience init(_ home: Home, _ words: String..., adding variables: [String: String] = [:]) throws {
        try self.init(home, words, adding: variables)
    }

    /// Like the other initializer, with a list of words; `ld-host` if no other program is named.
    init(
        _ home: Home, program: String = BuiltProducts.host, _ words: [String], adding variables: [String: String] = [:]
    ) throws {
        let controller = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (lock, number): (CInt, CInt) = (0, 0)
        guard controller >= 0, ioctl(controller, Self.setLock, &lock) == 0,
            ioctl(controller, Self.getNumber, &number) == 0
        else { throw TestFailure("there is no pseudo-terminal: \(errno)") }
        let name = "/dev/pts/\(number)"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The leader of a session without a terminal gets the first one that it opens.
        posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(Self.newSession | POSIX_SPAWN_SETSIGMASK))
        let arguments = ([program] + words).map { strdup($0) } + [nil]
        let environment = home.environment.merging(variables) { $1 }.map { strdup("\($0)=\($1)") } + [nil]
        defer { for string in arguments + environment { free(string) } }
        var process: pid_t = 0
        let error = posix_spawn(&process, program, &actions, &attributes, arguments, environment)
        guard error == 0 else { throw TestFailure("posix_spawn: \(error)") }
        self.controller = controller
        self.process = process
    }

    deinit { close(controller) }

    /// Whether the terminal shows typed text.
    var echoes: Bool {
        var settings = termios()
        return tcgetattr(controller, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    /// The text on the screen.
    var text: String { String(decoding: screen, as: UTF8.self) }

    /// Types a text.
    func type(_ text: String) { _ = Array(text.utf8).withUnsafeBytes { write(controller, $0.baseAddress, $0.count) } }

    /// Reads until the screen shows a text.
    ///
    /// - Throws: `TestFailure` if the program ends, or writes nothing for a minute, before that.
    func wait(for text: String) throws {
        while !self.text.contains(text) {
            guard readOnce() else { throw TestFailure("the screen never showed '\(text)': \(self.text)") }
        }
    }

    /// Reads until the program ends, and returns its exit status; 128 plus the signal's number if a signal ended it.
    /// Kills a program that writes nothing for a minute.
    func end() -> Int32 {
        while readOnce() {}
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + status & 0x7f
    }

    private func readOnce() -> Bool {
        var interest = pollfd(fd: controller, events: Int16(POLLIN), revents: 0)
        guard poll(&interest, 1, 60_000) > 0 else {
            kill(process, SIGKILL)
            return false
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        // EIO: the last program that had the terminal open has ended, see pty(7).
        let count = read(controller, &buffer, buffer.count)
        guard count > 0 else { return false }
        screen += buffer[..<count]
        return true
    }
}
