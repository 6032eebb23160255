internal import CLinux
internal import Glibc
internal import HostGround
internal import Synchronization

/// Notices code that ends the process unexpectedly: if a plugin calls `exit(3)` during a call, the program would seem
/// to have finished its work without output. `_exit(2)` cannot be noticed; for signals, see ``FatalSignals``.
package enum ExitGuard {
    private static let isEnding = Atomic<Bool>(false)
    private static let isProgram = Atomic<Bool>(false)
    private static let process = Atomic<pid_t>(0)

    private static let armed: Bool = {
        follow()
        return ld_linux_on_exit(exitGuardCheck) == 0
    }()

    /// From now on, guards calls into components. Call it before the first of them.
    static func arm() { _ = armed }

    /// Guards this process, and none that is forked from it.
    static func follow() { process.store(getpid(), ordering: .relaxed) }

    /// From now on, guards the whole program: it may end only through ``end(_:)``.
    package static func armProgram() {
        isProgram.store(true, ordering: .relaxed)
        arm()
    }

    /// Whether the whole program is guarded.
    static var guardsProgram: Bool { isProgram.load(ordering: .relaxed) }

    /// Ends the program.
    package static func end(_ status: Int32) -> Never {
        isEnding.store(true, ordering: .relaxed)
        exit(status)
    }

    /// Ends the program at once, as a component does not return from a function.
    static func end(_ component: ComponentIdentity, _ what: StaticString, _ function: String, _ more: String) -> Never {
        isEnding.store(true, ordering: .relaxed)
        explain(component, what, function, more)
        _exit(unexpectedStatus)
    }

    fileprivate static func check(_ status: Int32) {
        // Not in child processes, and not twice.
        guard getpid() == process.load(ordering: .relaxed), !isEnding.exchange(true, ordering: .relaxed) else { return }
        if let call = CallSlot.innermost {
            explain(call.component, CallPhrase.ends, call.function, ", with status \(status)")
        } else if guardsProgram {
            write("a plugin ended the process, with status \(status)")
        } else {
            return
        }
        // A status of 0 would report success.
        if status == 0 { _exit(unexpectedStatus) }
    }

    private static func explain(
        _ component: ComponentIdentity, _ what: StaticString, _ function: String, _ more: String
    ) {
        let name = PrintableText.escaped("\(component)")
        let isNoted = name.withCString { name in
            more.withCString { more in
                var function = Array(function.utf8CString.map { UInt8(bitPattern: $0) })
                return EndingNote.write(name, what.utf8Start, &function, more)
            }
        }
        if !isNoted { write("\(name)\(what)\(function)\(more)") }
    }

    private static func write(_ sentence: String) {
        let bytes = Array("\(guardsProgram ? "ld-host" : "LocalData"): error: \(sentence)\n".utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// The exit status of a failed command.
    private static let unexpectedStatus: Int32 = 2
}

private func exitGuardCheck(_ status: Int32, _: UnsafeMutableRawPointer?) { ExitGuard.check(status) }
