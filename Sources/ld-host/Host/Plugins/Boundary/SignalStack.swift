internal import Glibc

/// A stack for the handlers of signals, which a thread needs whose own one is full. Its memory is used again, never
/// freed.
struct SignalStack {
    private static let size = 64 << 10
    private var memory: UnsafeMutableRawPointer?

    /// Gives the calling thread a stack, if it has none.
    mutating func provide() {
        var known = stack_t()
        guard sigaltstack(nil, &known) == 0, known.ss_flags & Self.isAbsent != 0 else { return }
        if memory == nil {
            let found = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            memory = found == MAP_FAILED ? nil : found
        }
        guard let memory else { return }
        var stack = stack_t(ss_sp: memory, ss_flags: 0, ss_size: Self.size)
        sigaltstack(&stack, nil)
    }

    /// Takes the stack from the calling thread, which ends.
    func withdraw() {
        var known = stack_t()
        guard let memory, sigaltstack(nil, &known) == 0, known.ss_sp == memory else { return }
        known.ss_flags = Self.isAbsent
        sigaltstack(&known, nil)
    }

    /// `SS_DISABLE` of sigaltstack(2), whose type is another one in C.
    private static let isAbsent: Int32 = 2
}
