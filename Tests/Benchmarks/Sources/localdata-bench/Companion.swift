internal import Glibc

/// A C program that answers each line with a line, so that its rounds and ours can alternate.
final class Companion: Sendable {
    private let process: pid_t
    private let socket: Int32

    /// Starts the program.
    init(_ path: String, _ arguments: [String]) throws {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try require(socketpair(AF_UNIX, type, 0, &ends) == 0, "no pair of sockets")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        // This thread may be one of Dispatch's, which block signals, and a program's alarm has to reach it.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        let failure = posix_spawn(&process, path, &actions, &attributes, &words, environ)
        close(ends[1])
        try require(failure == 0, "\(path) cannot be started")
        self.process = process
        socket = ends[0]
    }

    deinit {
        close(socket)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    /// Sends a line and waits for the number that answers it.
    func ask(_ line: String) throws -> Double {
        let bytes = Array("\(line)\n".utf8)
        try require(write(socket, bytes, bytes.count) == bytes.count, "the companion has ended")
        var answer: [UInt8] = []
        var byte: UInt8 = 0
        while read(socket, &byte, 1) == 1, byte != UInt8(ascii: "\n") { answer.append(byte) }
        guard let number = Double(String(decoding: answer, as: UTF8.self)) else {
            throw Failure(description: "the companion answered no number to '\(line)'")
        }
        return number
    }
}
