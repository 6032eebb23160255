import Glibc
import LocalDataAPI

/// A program that runs outside of the host process, for work that must not crash the host. It has a deadline, inherits
/// only what is given here, and its whole process group is gone when the call returns.
///
/// The child gets its own process group, default signal dispositions, an empty signal mask, only the three standard
/// descriptors, and only the given environment. It keeps the host's user, working directory and resource limits.
/// Processes that leave the group, by `setsid(2)` or `setpgid(2)`, are out of reach and not waited for.
package struct ChildProcess: Sendable {
    /// The path of the program; `PATH` is not searched.
    package let executable: String
    /// The arguments after the program's own name.
    package let arguments: [String]
    /// The whole environment.
    package let environment: [String: String]
    /// The program's standard input, held in memory; `nil` is `/dev/null`.
    package let input: [UInt8]?
    /// The number of first bytes of standard output to keep; the rest is read and dropped.
    package let outputLimit: Int
    /// The number of last bytes of standard error to keep.
    package let errorLimit: Int
    /// Whether to wait with pidfd_open(2) where the kernel has it (5.3); otherwise polls every 5 ms.
    package let usesPidfd: Bool

    /// Describes a program to run; does not start it.
    package init(
        _ executable: String, arguments: [String] = [], environment: [String: String] = [:], input: [UInt8]? = nil,
        outputLimit: Int = 8 << 20, errorLimit: Int = 64 << 10, usesPidfd: Bool = true
    ) {
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
        self.input = input
        self.outputLimit = max(0, outputLimit)
        self.errorLimit = max(0, errorLimit)
        self.usesPidfd = usesPidfd
    }

    /// Starts the program and waits until it ends or its time is up.
    ///
    /// Blocks the calling thread, which should be one of the host's I/O threads. After the program has ended, the rest
    /// of its process group is killed and the available output is taken. A descendant outside of the group that keeps
    /// the output open is not waited for. When the time is up, the group is killed with SIGKILL, which cannot be
    /// caught, and the program is reaped. Only if the kernel does not release it within 5 s (a hung network file
    /// system), the call returns without reaping.
    ///
    /// - Parameter deadline: The time from now, not counting a suspended machine's sleep (CLOCK_MONOTONIC).
    /// - Throws: `StorageError.pluginRefused` with the program if it cannot be started, or if other code in this
    ///   process took its exit status.
    package func run(deadline: Duration) throws -> Completion {
        // Far longer than any use; a longer time would overflow the clock.
        let limit = min(deadline, .seconds(365 * 86_400))
        let end = SuspendingClock.now.advanced(by: limit)
        var supervision = try spawn()
        let ended = try supervision.wait(until: end)
        return try supervision.finish(timedOut: ended ? nil : deadline)
    }

    /// An error about this program, with the system's text.
    func failure(_ what: String, _ number: Int32, hint: String = "") -> StorageError {
        let text = StorageError.systemText(number)
        return StorageError(.pluginRefused, "program \(PathText.shown(executable)) \(what): \(text)", hint: hint)
    }
}
