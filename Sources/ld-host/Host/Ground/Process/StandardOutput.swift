internal import Glibc
internal import Synchronization

/// Where a program's results go: a place that plugins do not know. What they print goes to standard error, so that it
/// never mixes with a value.
package enum StandardOutput {
    private static let kept = Atomic<Int32>(STDOUT_FILENO)

    /// The descriptor of results.
    package static var results: Int32 { kept.load(ordering: .relaxed) }

    /// From now on, only results go where standard output went. Call it before the first plugin is loaded.
    package static func separate() {
        // Above the numbers that scripts give to descriptors of theirs.
        let kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10)
        guard kept >= 0, dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 else { return }
        self.kept.store(kept, ordering: .relaxed)
        // Whoever writes to a reader that has gone gets an error: a plugin's connection must not end the program.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Runs `body`, in which a program is started that uses the standard output of this one.
    package static func lent<Result>(_ body: () -> Result) -> Result {
        guard results != STDOUT_FILENO else { return body() }
        dup2(results, STDOUT_FILENO)
        signal(SIGPIPE, SIG_DFL)
        defer {
            dup2(STDERR_FILENO, STDOUT_FILENO)
            signal(SIGPIPE, SIG_IGN)
        }
        return body()
    }

    /// Ends the process, as the system does where nothing ignores that the reader of results has gone.
    package static func endWithoutReader() {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
    }
}
