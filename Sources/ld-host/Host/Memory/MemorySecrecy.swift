internal import CLinux
internal import Glibc

/// What keeps the memory of a program that handles secrets from being shown to others.
package enum MemorySecrecy {
    /// Makes this process one whose memory leaves no trace: a crash ends it without a core dump, on the disk or to a
    /// program that collects them, and without the runtime's report, which prints what is behind registers; other
    /// programs of the same user can neither attach to it nor read its memory. For the start of a program; programs
    /// that it starts do not inherit the latter.
    ///
    /// Whoever is root can read the memory all the same.
    package static func enforce() {
        // The runtime has set its own handlers before main, if it was asked to.
        for number in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGQUIT] { signal(number, SIG_DFL) }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        // The limit does not hold for a core dump that the system pipes to a program, see core(5).
        ld_linux_forbid_dumps()
    }

    /// Runs body and overwrites what its calls have left on the stack: registers that held part of a key are saved
    /// there by compiled code, and by the dynamic linker when a function is called for the first time. 0.5 us.
    static func clearingStack<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer {
            ld_linux_clear_registers()
            ld_linux_clear_stack()
        }
        return try body()
    }

    /// Copies secret bytes, and leaves none of them in the registers that copying uses.
    static func copy(_ bytes: UnsafeRawBufferPointer, to memory: UnsafeMutableRawBufferPointer) {
        memory.copyMemory(from: bytes)
        ld_linux_clear_registers()
    }

    /// Zeroes the registers in which a cipher or a copy leaves bytes of a value: the first call of another function
    /// would save them on the stack.
    @inline(__always)
    static func clearRegisters() { ld_linux_clear_registers() }
}
