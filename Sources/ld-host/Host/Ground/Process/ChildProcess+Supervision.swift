import CLinux
import Glibc
import LocalDataAPI

extension ChildProcess {
    /// A started program, until it is reaped.
    struct Supervision: ~Copyable {
        private enum State { case running, ended, taken }

        /// How long the kernel may take to end a killed process.
        private static let grace: Duration = .seconds(5)
        private static let pause: Duration = .milliseconds(5)

        private let child: ChildProcess
        private let pid: pid_t
        private let pidfd: OwnedDescriptor?
        private let pidfdNumber: CInt
        private var output: Capture
        private var error: Capture

        init(
            _ child: ChildProcess, pid: pid_t, output: consuming OwnedDescriptor, error: consuming OwnedDescriptor
        ) {
            self.child = child
            self.pid = pid
            pidfdNumber = child.usesPidfd ? ld_linux_pidfd_open(pid) : -1
            pidfd = OwnedDescriptor(pidfdNumber)
            self.output = Capture(output, keeping: .first, limit: child.outputLimit)
            self.error = Capture(error, keeping: .last, limit: child.errorLimit)
        }

        /// Collects output until the program has ended (true) or the time is up (false).
        mutating func wait(until end: SuspendingClock.Instant) throws -> Bool {
            while true {
                // Checked before the clock: a program that ended in time is not late because this thread is.
                guard state() == .running else { return true }
                let remaining = end - SuspendingClock.now
                guard remaining > .zero else { return false }
                pollOnce(for: remaining)
            }
        }

        /// Kills the rest of the group, takes the remaining output, and reaps the program.
        consuming func finish(timedOut duration: Duration?) throws -> Completion {
            let state = state()
            if state != .taken {
                // Not reaped yet, so neither number can belong to another process. The program itself may have left its
                // group.
                kill(-pid, SIGKILL)
                kill(pid, SIGKILL)
            }
            if state == .running { _ = try wait(until: SuspendingClock.now.advanced(by: Self.grace)) }
            output.drain()
            error.drain()
            var status: Int32 = 0
            var reaped = waitpid(pid, &status, WNOHANG)
            while reaped < 0 && errno == EINTR { reaped = waitpid(pid, &status, WNOHANG) }
            guard reaped == pid || duration != nil else {
                throw child.failure(
                    "ended, but its exit status is lost", ECHILD,
                    hint: "do not ignore SIGCHLD, and wait only for children that you started")
            }
            return Completion(
                outcome: duration.map { .timedOut(after: $0) } ?? Self.outcome(status), output: output.kept,
                isOutputTruncated: output.isTruncated, errorTail: error.kept)
        }

        /// Waits once for output or for the end, at most the given time; may return early, e.g. after a signal.
        private mutating func pollOnce(for remaining: Duration) {
            let longest = pidfdNumber < 0 ? min(remaining, Self.pause) : remaining
            let ending = pollfd(fd: pidfdNumber, events: Int16(POLLIN), revents: 0)
            var wanted = [output.interest, error.interest, ending]
            guard poll(&wanted, nfds_t(wanted.count), Self.milliseconds(longest)) > 0 else { return }
            if wanted[0].revents != 0 { output.readOnce() }
            if wanted[1].revents != 0 { error.readOnce() }
        }

        /// Checks the state without reaping.
        private func state() -> State {
            var information = siginfo_t()
            while waitid(P_PID, id_t(pid), &information, WEXITED | WNOHANG | WNOWAIT) != 0 {
                guard errno == EINTR else { return .taken }
            }
            return information.si_signo == 0 ? .running : .ended
        }

        /// Rounded up: a wait that ends just before the deadline would be repeated with no time left.
        private static func milliseconds(_ duration: Duration) -> Int32 {
            let (seconds, attoseconds) = duration.components
            guard seconds < 60 else { return 60_000 }
            return Int32(seconds) * 1000 + Int32((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        }

        /// The macros of wait(2), which Swift does not import.
        private static func outcome(_ status: Int32) -> Outcome {
            let signal = status & 0x7F
            guard signal != 0 else { return .exited(code: (status >> 8) & 0xFF) }
            return .signalled(signal, name: ChildProcess.signalName(signal))
        }
    }

    /// A signal's name, as in "SIGABRT".
    package static func signalName(_ signal: Int32) -> String {
        ld_linux_signal_name(signal).map { "SIG" + String(cString: $0) } ?? "SIGRTMIN+\(signal - 34)"
    }
}
