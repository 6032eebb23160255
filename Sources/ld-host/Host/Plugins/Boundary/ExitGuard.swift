internal import CLinux
internal import Glibc
internal import HostGround
internal import Synchronization

/// Notices code that ends the process unexpectedly: if a plugin calls `exit(3)` during a call, the program would seem
/// to have finished its work without output. `_exit(2)` and signals cannot be noticed.
package enum ExitGuard {
    private static let isEnding = Atomic<Bool>(false)
    private static let isProgram = Atomic<Bool>(false)
    private static let process = getpid()

    private static let armed: Bool = {
        _ = process
        return ld_linux_on_exit(exitGuardCheck) == 0
    }()

    /// From now on, guards calls into components. Call it before the first of them.
    static func arm() { _ = armed }

    /// From now on, guards the whole program: it may end only through ``end(_:)``.
    package static func armProgram() {
        isProgram.store(true, ordering: .relaxed)
        arm()
    }

    /// Ends the program.
    package static func end(_ status: Int32) -> Never {
        isEnding.store(true, ordering: .relaxed)
        exit(status)
    }

    fileprivate static func check(_ status: Int32) {
        // Not in child processes, and not twice.
        guard getpid() == process, !isEnding.exchange(true, ordering: .relaxed) else { return }
        let isProgram = isProgram.load(ordering: .relaxed)
        let who: String
        if let call = CallSlot.innermost {
            who = "\(call.component) ended the process in \(call.function)"
        } else if isProgram {
            who = "a plugin ended the process"
        } else {
            return
        }
        let line =
            "\(isProgram ? "ld-host" : "LocalData"): error: \(PrintableText.escaped(who)), with status \(status)\n"
        let bytes = Array(line.utf8)
        _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        // A status of 0 would report success.
        if status == 0 { _exit(unexpectedStatus) }
    }

    /// The exit status of a failed command.
    private static let unexpectedStatus: Int32 = 2
}

private func exitGuardCheck(_ status: Int32, _: UnsafeMutableRawPointer?) { ExitGuard.check(status) }
