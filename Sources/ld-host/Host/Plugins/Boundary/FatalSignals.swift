internal import CLinux
internal import Glibc
internal import HostGround
internal import Synchronization

/// Says which call a fatal signal has ended: a plugin's fault, its `abort`, or an exception that nothing caught. The
/// process then ends as it would have.
///
/// A handler may run anywhere, also while another thread holds a lock or within malloc(3). So all that it writes was
/// made before, and it takes no lock and no memory.
enum FatalSignals {
    private static let all = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS]
    private static let isWritten = Atomic<Bool>(false)
    /// What the program does with each signal.
    nonisolated(unsafe) private static let former = UnsafeMutablePointer<sigaction>.allocate(capacity: Int(SIGSYS) + 1)
    /// The end of the sentence for each signal.
    nonisolated(unsafe) private static let endings =
        UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: Int(SIGSYS) + 1)
    nonisolated(unsafe) private static let pieces = UnsafeMutablePointer<iovec>.allocate(capacity: 6)

    private static let armed: Void = {
        // What the handler uses is made here.
        isWritten.store(false, ordering: .relaxed)
        _ = pieces
        for signal in all {
            let name = ld_linux_signal_name(signal).map { String(cString: $0) } ?? "?"
            endings[Int(signal)] = UnsafePointer(strdup(", with signal \(signal) (SIG\(name))"))
            var action = sigaction()
            action.__sigaction_handler.sa_sigaction = fatalSignal
            // A full stack leaves no room for the handler.
            action.sa_flags = Int32(SA_SIGINFO) | Int32(SA_ONSTACK)
            sigemptyset(&action.sa_mask)
            sigaction(signal, &action, former + Int(signal))
        }
    }()

    /// From now on, such signals are explained. Call it before the first call into a component.
    static func arm() { _ = armed }

    /// Writes the sentence, if the signal came from a call on this thread, and lets the program do what it would have.
    fileprivate static func end(
        _ signal: Int32, _ information: UnsafeMutablePointer<siginfo_t>?, _ context: UnsafeMutableRawPointer?
    ) {
        // One that another process has sent says nothing about the call.
        let isOwn = information.map { $0.pointee.si_code > 0 || $0.pointee.si_code == bySelf } ?? true
        if isOwn, !isWritten.exchange(true, ordering: .relaxed), let call = CallSlot.innermostText,
            !EndingNote.write(call.component, CallPhrase.ends.utf8Start, call.function, endings[Int(signal)])
        {
            write(call.component, call.function, endings[Int(signal)])
        }
        passOn(signal, information, context)
    }

    /// Calls the program's own handler, or ends the process.
    private static func passOn(
        _ signal: Int32, _ information: UnsafeMutablePointer<siginfo_t>?, _ context: UnsafeMutableRawPointer?
    ) {
        let former = former + Int(signal)
        // The union has the address of either kind of handler.
        switch unsafeBitCast(former.pointee.__sigaction_handler, to: Int.self) {
        case unsafeBitCast(SIG_DFL, to: Int.self):
            sigaction(signal, former, nil)
            // An instruction that traps is not executed again.
            raise(signal)
        case unsafeBitCast(SIG_IGN, to: Int.self):
            sigaction(signal, former, nil)
        default:
            if former.pointee.sa_flags & Int32(SA_SIGINFO) != 0 {
                former.pointee.__sigaction_handler.sa_sigaction?(signal, information, context)
            } else {
                former.pointee.__sigaction_handler.sa_handler?(signal)
            }
        }
    }

    private static func write(
        _ component: UnsafePointer<CChar>?, _ function: UnsafePointer<UInt8>?, _ ending: UnsafePointer<CChar>?
    ) {
        let beginning: StaticString = ExitGuard.guardsProgram ? "ld-host: error: " : "LocalData: error: "
        add(0, beginning.utf8Start)
        add(1, component)
        add(2, CallPhrase.ends.utf8Start)
        add(3, function)
        add(4, ending)
        let end: StaticString = "\n"
        add(5, end.utf8Start)
        _ = writev(STDERR_FILENO, pieces, 6)
    }

    private static func add(_ index: Int, _ text: UnsafeRawPointer?) {
        let length = text.map { strlen($0.assumingMemoryBound(to: CChar.self)) } ?? 0
        pieces[index] = iovec(iov_base: UnsafeMutableRawPointer(mutating: text), iov_len: length)
    }

    /// `SI_TKILL` of sigaction(2): a thread of a process has sent it, as abort(3) does.
    private static let bySelf: Int32 = -6
}

private func fatalSignal(
    _ signal: Int32, _ information: UnsafeMutablePointer<siginfo_t>?, _ context: UnsafeMutableRawPointer?
) {
    FatalSignals.end(signal, information, context)
}
