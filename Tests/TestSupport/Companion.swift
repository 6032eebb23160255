import Glibc

/// A program that runs next to a test until its standard input ends.
package final class Companion: Sendable {
    private let process: pid_t
    private let socket: Int32

    /// Starts a program and waits until it has printed "ready".
    package init(_ program: String, _ arguments: [String], environment: [String: String]) throws {
        var ends: [Int32] = [-1, -1]
        // No other process may inherit this end: otherwise the program's input would not end with it.
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw TestFailure("no pair of sockets: \(errno)")
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var process = pid_t()
        let failure = posix_spawn(&process, program, &actions, nil, &words, &variables)
        close(ends[1])
        self.process = process
        socket = ends[0]
        guard failure == 0 else { throw TestFailure("\(program): \(failure)") }
        try awaitReady("\(program) \(arguments)")
    }

    /// Writes a line to the program's standard input and waits until it has printed "ready" again. Only one thread at a
    /// time may do so.
    ///
    /// - Returns: The program's output before that.
    @discardableResult
    package func send(_ line: String) throws -> String {
        let bytes = Array("\(line)\n".utf8)
        guard write(socket, bytes, bytes.count) == bytes.count else { throw TestFailure("\(line): error \(errno)") }
        return try awaitReady(line)
    }

    @discardableResult
    private func awaitReady(_ work: String) throws -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while !line.ends(with: "ready\n"), read(socket, &byte, 1) == 1 { line.append(byte) }
        let text = String(decoding: line, as: UTF8.self)
        guard line.ends(with: "ready\n") else { throw TestFailure("\(work): \(text)") }
        return String(text.dropLast(6))
    }

    /// Ends the program and waits for its end.
    deinit {
        close(socket)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    }
}

extension [UInt8] {
    fileprivate func ends(with text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
