import CLinux
import Glibc
import LocalDataAPI

extension ChildProcess {
    /// Starts the program with posix_spawn(3), which distinguishes a program that could not be started from one that
    /// failed.
    func spawn() throws -> Supervision {
        let input = try openInput()
        let output = try Pipe(of: self)
        let error = try Pipe(of: self)

        var actions = posix_spawn_file_actions_t()
        try require(posix_spawn_file_actions_init(&actions))
        defer { posix_spawn_file_actions_destroy(&actions) }
        try require(posix_spawn_file_actions_adddup2(&actions, input.raw, STDIN_FILENO))
        try require(posix_spawn_file_actions_adddup2(&actions, output.writing.raw, STDOUT_FILENO))
        try require(posix_spawn_file_actions_adddup2(&actions, error.writing.raw, STDERR_FILENO))
        try require(ld_linux_spawn_close_from(&actions, STDERR_FILENO + 1))

        var attributes = posix_spawnattr_t()
        try require(posix_spawnattr_init(&attributes))
        defer { posix_spawnattr_destroy(&attributes) }
        try describe(&attributes)

        let variables = environment.map { "\($0.key)=\($0.value)" }.sorted()
        var pid: pid_t = 0
        let result = try withCStrings([executable] + arguments) { arguments in
            try withCStrings(variables) { variables in
                posix_spawn(&pid, executable, &actions, &attributes, arguments, variables)
            }
        }
        guard result == 0 else { throw unstarted(result) }
        // The writing ends must close here, or the pipes would never end.
        return Supervision(self, pid: pid, output: output.takeReading(), error: error.takeReading())
    }

    private func describe(_ attributes: inout posix_spawnattr_t) throws {
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        try require(posix_spawnattr_setflags(&attributes, Int16(flags)))
        try require(posix_spawnattr_setpgroup(&attributes, 0))
        var signals = sigset_t()
        sigfillset(&signals)
        try require(posix_spawnattr_setsigdefault(&attributes, &signals))
        sigemptyset(&signals)
        try require(posix_spawnattr_setsigmask(&attributes, &signals))
    }

    private func unstarted(_ number: Int32) -> StorageError {
        let quoted = PathText.shellQuoted(executable)
        let hint =
            switch number {
            case ENOENT: "check the path; a script also needs its interpreter"
            case EACCES: "check that it is a file that you may run: ls -l \(quoted)"
            case ENOEXEC: "check that it is a program for this machine: file \(quoted)"
            default: ""
            }
        return failure("cannot be started", number, hint: hint)
    }

    func require(_ number: Int32) throws {
        guard number == 0 else { throw failure("cannot be started", number) }
    }

    /// The strings as a NULL-terminated C array.
    private func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) throws -> Result
    ) throws -> Result {
        guard !strings.contains(where: { $0.utf8.contains(0) }) else {
            throw StorageError(
                .pluginRefused,
                "program \(PathText.shown(executable)) cannot be started: an argument or variable holds a NUL byte")
        }
        let pointers = strings.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        guard !pointers.contains(nil) else { throw failure("cannot be started", ENOMEM) }
        return try body(pointers + [nil])
    }
}
