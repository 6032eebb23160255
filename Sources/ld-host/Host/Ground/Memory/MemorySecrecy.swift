internal import CLinux
internal import Glibc

/// Protects the memory of a program that handles secrets.
package enum MemorySecrecy {
    /// Hardens this process: a crash leaves no core dump, neither on the disk nor with a program that collects them,
    /// and no crash report of the runtime, which would print memory behind registers. Other programs of the same user
    /// can neither attach to it nor read its memory. Call it at the start of a program; child programs do not inherit
    /// the latter.
    ///
    /// The superuser can read the memory all the same.
    package static func enforce() {
        // The runtime may have installed its own handlers before main.
        for number in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGQUIT] { signal(number, SIG_DFL) }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        // The limit does not cover a core dump that the system pipes to a program, see core(5).
        ld_linux_forbid_dumps()
    }

    /// Runs `body` and overwrites what its calls have left on the stack: compiled code saves registers with parts of a
    /// key there, and so does the dynamic linker at the first call of a function. Costs 0.5 us.
    package static func clearingStack<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer {
            ld_linux_clear_registers()
            ld_linux_clear_stack()
        }
        return try body()
    }

    /// Copies secret bytes without leaving any in the registers that copying uses.
    package static func copy(_ bytes: UnsafeRawBufferPointer, to memory: UnsafeMutableRawBufferPointer) {
        memory.copyMemory(from: bytes)
        ld_linux_clear_registers()
    }

    /// Zeroes the registers in which a cipher or a copy leaves bytes of a value; otherwise the first call of another
    /// function would save them on the stack.
    @inline(__always)
    package static func clearRegisters() { ld_linux_clear_registers() }
}
