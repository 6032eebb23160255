import Glibc
import LocalDataAPI

/// A program that runs beside the host, for what must not bring the host down: with a deadline, with nothing inherited
/// but what is given here, and with its whole process group gone when the call returns.
///
/// The child gets its own process group, default signal dispositions and an empty signal mask, the three standard
/// descriptors and no other, and only the environment that is given. It keeps the host's user, working directory and
/// resource limits. What leaves the group, by `setsid(2)` or `setpgid(2)`, is out of reach and not waited for.
package struct ChildProcess: Sendable {
    /// The path of the program; `PATH` is not searched.
    package let executable: String
    /// The arguments behind the program's own name.
    package let arguments: [String]
    /// The whole environment.
    package let environment: [String: String]
    /// What the program reads from its standard input, held in memory; nil is `/dev/null`.
    package let input: [UInt8]?
    /// How many bytes of standard output are kept, from the first on; the rest is read and dropped.
    package let outputLimit: Int
    /// How many bytes of standard error are kept, the last ones.
    package let errorLimit: Int
    /// Whether the end is awaited with pidfd_open(2) where the kernel has it (5.3), or by asking every 5 ms.
    package let usesPidfd: Bool

    /// Describes a program to run; nothing is started.
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
    /// Blocks the calling thread, which should be one of the host's I/O threads. When the program has ended, what
    /// remains of its process group is killed and the output that is there is taken; a descendant outside the group
    /// that keeps the output open is not waited for. When the time is up, the group is killed with SIGKILL, which
    /// cannot be caught, and the program is reaped. Only if the kernel does not let go of it within 5 s (a hung network
    /// file system) does the call return without reaping.
    ///
    /// - Parameter deadline: The time from now, in which a suspended machine's sleep does not count (CLOCK_MONOTONIC).
    /// - Throws: `StorageError.pluginRefused`, naming the program, if it cannot be started, or if other code in this
    ///   process took its exit status.
    package func run(deadline: Duration) throws -> Completion {
        // Far longer than any use; more would overflow the clock.
        let limit = min(deadline, .seconds(365 * 86_400))
        let end = SuspendingClock.now.advanced(by: limit)
        var supervision = try spawn()
        let ended = try supervision.wait(until: end)
        return try supervision.finish(timedOut: ended ? nil : deadline)
    }

    /// An error of this program's, in the words of the system.
    func failure(_ what: String, _ number: Int32, hint: String = "") -> StorageError {
        let text = StorageError.systemText(number)
        return StorageError(.pluginRefused, "program \(PathText.shown(executable)) \(what): \(text)", hint: hint)
    }
}
