internal import CLinux
internal import Glibc
internal import Synchronization

/// Notices code that ends the process where nobody expects it: a plugin that calls `exit(3)` in a call would pass for a
/// program that has done its work and has nothing to say. `_exit(2)` and signals cannot be noticed.
package enum ExitGuard {
    private static let isEnding = Atomic<Bool>(false)
    private static let isProgram = Atomic<Bool>(false)
    private static let process = getpid()

    private static let armed: Bool = {
        _ = process
        return ld_linux_on_exit(exitGuardCheck) == 0
    }()

    /// Watches from now on over calls into components. Before the first of them.
    static func arm() { _ = armed }

    /// Watches from now on over the whole program: it ends by ``end(_:)`` or not as it should.
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
        // Not in children, nor twice.
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
        // A status of 0 would say that all is done.
        if status == 0 { _exit(unexpectedStatus) }
    }

    /// What a failed command ends with.
    private static let unexpectedStatus: Int32 = 2
}

private func exitGuardCheck(_ status: Int32, _: UnsafeMutableRawPointer?) { ExitGuard.check(status) }
